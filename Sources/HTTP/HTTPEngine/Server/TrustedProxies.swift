import HTTPSemantics
import HTTPTypes
import SystemIO

/// Determines the client of a forwarded request. Only trusted proxies are believed.
struct TrustedProxies: Sendable {
  /// The client of a request.
  struct Client: Hashable, Sendable {
    /// The client's name for handlers and logs: `192.0.2.1`, `192.0.2.1:4711`, `[2001:db8::1]:4711`, `unix`,
    /// `unknown`, or the proxy's own name for it.
    let name: String
    /// The address by which requests are counted; `nil` if it is unknown or belongs to a trusted proxy.
    let counted: IPAddress?
  }

  private let proxies: [TrustedProxy]
  /// The fields that the proxies send.
  let fields: ForwardingFields

  init(_ proxies: [TrustedProxy], fields: ForwardingFields) {
    self.proxies = proxies
    self.fields = fields
  }

  /// Whether a peer at `address` is trusted, or with `nil`, one that has connected to a Unix socket.
  func contains(_ address: IPAddress?) -> Bool { proxies.contains { $0.contains(address) } }

  /// Returns what the trusted peer with the name `peer` says about a request with `fields`. Throws if it is malformed.
  func read(
    _ fields: HTTPFields, from peer: String
  ) throws(Refusal) -> (client: Client, view: ForwardedView?) {
    switch self.fields {
    case .forwarded: return (client(after: ForwardedHops(in: fields), from: peer), nil)
    case .xForwarded:
      return (client(after: try ForwardedView.hops(in: fields), from: peer), try ForwardedView(fields))
    }
  }

  /// Returns the client of a request from the proxy `peer` that passed `hops`: the first one, starting at the last one,
  /// that is not a trusted proxy. Those before it are ignored, because that hop could have forged them.
  func client(after hops: some Sequence<ForwardedNode>, from peer: String) -> Client {
    var name = peer
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
