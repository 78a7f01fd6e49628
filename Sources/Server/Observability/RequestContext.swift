import HTTPEngine
package import SnapshotFormat
import SnapshotStore
import SystemIO

/// The known facts of a request while it is processed, for metrics, log and audit log.
package final class RequestContext: Sendable {
  package struct Facts: Sendable {
    /// The metrics of the route; `nil` until a route was found.
    package var route: RouteMetrics?
    package var token: String?
    /// The name of the user whom a trusted proxy has named.
    package var user: String?
    package var usesLink = false
    package var snapshot: SnapshotID?
    /// The snapshot with which it is compared.
    package var comparedWith: SnapshotID?
    package var report: ReportID?
    package var traceID: String?
    /// Registers the call with its token, so that it ends with the token. Released with the request.
    package var running: (any Sendable)?
    /// How an upload ended with the request, for uploads in several requests.
    package var ending: Ending?
    /// Records what a request did to one of several snapshots; `nil` if nothing is recorded.
    package var audit: (@Sendable (AuditEvent) async -> Void)?
  }

  /// How an upload ended.
  package enum Ending: String, Sendable { case created, repeated, open }

  private let state = Lock(Facts())

  package init() {}

  package var facts: Facts { state.withLock { $0 } }

  /// The metrics of the route, without a copy of the other facts.
  package var route: RouteMetrics? { state.withLock { $0.route } }

  package func update(_ change: (inout Facts) -> Void) { state.withLock { change(&$0) } }
}

extension HTTPServerRequest {
  /// The known facts of the request.
  package var context: RequestContext? { userInfo as? RequestContext }

  /// Records the id of the request's token, even if it does not permit the call.
  package func record(token id: String) { context?.update { $0.token = id } }

  /// Records the user whom a trusted proxy has named, even if the call is not permitted.
  package func record(user name: String) { context?.update { $0.user = name } }
}

/// The address of a client, by which its requests are counted.
package struct ClientAddress: Sendable, CustomStringConvertible {
  private let peer: String

  /// Takes `192.0.2.1:4711`, `[2001:db8::1]:4711`, either of them without port, `unknown`, or a name like `_hidden`.
  package init(peer: String) { self.peer = peer }

  /// The address without port, for people and logs.
  package var description: String {
    var text = Substring(peer).utf8
    if text.first == UInt8(ascii: "[") {
      text = text.dropFirst().prefix { $0 != UInt8(ascii: "]") }
    } else if let colon = text.firstIndex(of: UInt8(ascii: ":")),
      colon == text.lastIndex(of: UInt8(ascii: ":"))
    {
      text = text[..<colon]
    }
    return String(Substring(text))
  }

  /// The address for counting: an IPv4 address, the first 64 bits of an IPv6 address, or a proxy's own name for the
  /// client.
  package var counted: String {
    let address = description
    return IPAddress(address).map { "\($0.client)" } ?? address
  }
}
