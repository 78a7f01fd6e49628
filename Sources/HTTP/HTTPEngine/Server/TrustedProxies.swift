import HTTPSemantics
import HTTPTypes
import SystemIO

/// Tells whom a request comes from where a proxy brings it: only what trusted proxies say is believed.
struct TrustedProxies: Sendable {
  /// Whom a request comes from.
  struct Client: Hashable, Sendable {
    /// For handlers and logs: `192.0.2.1`, `192.0.2.1:4711`, `[2001:db8::1]:4711`, `unknown`, or the proxy's own
    /// name for it.
    let name: String
    /// Whose requests are counted together; `nil` where nobody is known, or only a trusted address.
    let counted: IPAddress?
  }

  private let blocks: [AddressBlock]

  init(_ blocks: [AddressBlock]) { self.blocks = blocks }

  func contains(_ address: IPAddress) -> Bool { blocks.contains { $0.contains(address) } }

  /// Whom a request comes from that the trusted `peer` brought with `fields`: the first hop from the last that isn't
  /// a trusted proxy itself. What such a hop says of those before it is anybody's guess, so nobody asks.
  func client(of fields: HTTPFields, from peer: SocketAddress) -> Client {
    var name = peer.description
    for hop in ForwardedHops(in: fields) {
      switch hop {
      case .address(let text, let port):
        guard let address = IPAddress(text) else { return Client(name: name, counted: nil) }
        let host = address.isIPv6 ? "[\(address)]" : "\(address)"
        name = port.map { "\(host):\($0)" } ?? host
        if !contains(address) { return Client(name: name, counted: address.client) }
      case .unknown: return Client(name: "unknown", counted: nil)
      case .obfuscated(let text): return Client(name: text, counted: nil)
      }
    }
    return Client(name: name, counted: nil)
  }
}
