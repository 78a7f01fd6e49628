import SystemIO

/// The refusals of the current period, for combining similar ones in a line. A client that repeats refused requests,
/// with or without token, can't fill the log. Has no clock of its own.
struct RefusalTable: Sendable {
  /// The properties that similar refusals share.
  struct Kind: Hashable, Sendable {
    /// The client; `nil` for all refusals that exceed the table's limit.
    let client: Client?
    let action: AuditAction
    let problem: String?
  }

  struct Client: Hashable, Sendable {
    let address: String
    /// The id of the token, if known.
    let token: String?
    /// The name of the user, if a trusted proxy has named one.
    let user: String?
  }

  /// The maximum number of kinds.
  static let limit = 1000

  /// The last refusal of each kind, and the number of those without a line.
  private var waiting: [Kind: (last: AuditEvent, count: Int)] = [:]

  /// The number of kinds.
  var count: Int { waiting.count }

  /// Counts `event`.
  ///
  /// - Returns: its kind if it is the first one and gets its own line; `nil` if it shares a line.
  mutating func add(_ event: AuditEvent) -> Kind? {
    let address = event.address.map { ClientAddress(peer: $0).counted } ?? ""
    var kind = Kind(
      client: Client(address: address, token: event.token, user: event.user), action: event.action,
      problem: event.problem)
    if waiting[kind] == nil, waiting.count >= Self.limit {
      kind = Kind(client: nil, action: event.action, problem: event.problem)
    }
    guard let known = waiting[kind] else {
      waiting[kind] = (event, 0)
      return kind
    }
    waiting[kind] = (event, known.count + 1)
    return nil
  }

  /// Removes `kind`.
  ///
  /// - Returns: one event for the refusals without a line; `nil` if there are none.
  mutating func end(_ kind: Kind) -> AuditEvent? {
    guard let (last, count) = waiting.removeValue(forKey: kind), count > 0 else { return nil }
    var event = last
    event.count = count
    if kind.client == nil { (event.address, event.token, event.user) = (nil, nil, nil) }
    return event
  }

  /// Removes all kinds and returns the events for the refusals without a line.
  mutating func endAll() -> [AuditEvent] { waiting.keys.compactMap { end($0) } }
}
