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
  /// The fields that the proxies send.
  let fields: ForwardingFields

  init(_ blocks: [AddressBlock], fields: ForwardingFields) {
    self.blocks = blocks
    self.fields = fields
  }

  func contains(_ address: IPAddress) -> Bool { blocks.contains { $0.contains(address) } }

  /// Returns what the trusted `peer` says about a request with `fields`. Throws if it is malformed.
  func read(
    _ fields: HTTPFields, from peer: SocketAddress
  ) throws(Refusal) -> (client: Client, view: ForwardedView?) {
    switch self.fields {
    case .forwarded: return (client(after: ForwardedHops(in: fields), from: peer), nil)
    case .xForwarded:
      return (client(after: try ForwardedView.hops(in: fields), from: peer), try ForwardedView(fields))
    }
  }

  /// Returns the client of a request from `peer` that passed `hops`: the first one, starting at the last one, that is
  /// not a trusted proxy. Those before it are ignored, because that hop could have forged them.
  func client(after hops: some Sequence<ForwardedNode>, from peer: SocketAddress) -> Client {
    var name = peer.description
    for hop in hops {
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
