import HTTPSemantics
import HTTPTypes
import SystemIO

/// Determines the client of a forwarded request. Only trusted proxies are believed.
struct TrustedProxies: Sendable {
  /// The client of a request.
  struct Client: Hashable, Sendable {
    /// The client's name for handlers and logs: `192.0.2.1`, `192.0.2.1:4711`, `[2001:db8::1]:4711`, `unknown`, or the
    /// proxy's own name for it.
    let name: String
    /// The address by which requests are counted; `nil` if it is unknown or belongs to a trusted proxy.
    let counted: IPAddress?
  }

  private let blocks: [AddressBlock]

  init(_ blocks: [AddressBlock]) { self.blocks = blocks }

  func contains(_ address: IPAddress) -> Bool { blocks.contains { $0.contains(address) } }

  /// Returns the client of a request with `fields` from the trusted `peer`: the first hop, starting at the last one,
  /// that is not a trusted proxy. Elements before it are ignored, because that hop could have forged them.
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
