/// Which refusals have a line already, so that those that are alike share the next: nobody fills the log by asking often
/// for what is refused, with a token or without. A value without a clock.
struct RefusalTable: Sendable {
  /// What makes refusals alike.
  struct Kind: Hashable, Sendable {
    /// Whose they are; `nil` for all that come while the table is full.
    let client: Client?
    let action: String
    let problem: String?
  }

  struct Client: Hashable, Sendable {
    let address: String
    /// The id of the token, where it is known.
    let token: String?
  }

  /// The most kinds at once.
  static let limit = 1000

  /// The last refusal of each kind, and how many wait for a line.
  private var waiting: [Kind: (last: AuditEvent, count: Int)] = [:]

  /// How many kinds there are.
  var count: Int { waiting.count }

  /// Counts `event`.
  /// - Returns: its kind where it is the first of it, and has a line of its own; `nil` where it waits for others.
  mutating func add(_ event: AuditEvent) -> Kind? {
    let address = event.address.map { ClientAddress(peer: $0).counted } ?? ""
    var kind = Kind(
      client: Client(address: address, token: event.token), action: event.action, problem: event.problem)
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

  /// Forgets `kind`.
  /// - Returns: those of it that waited, as one event; `nil` where none did.
  mutating func end(_ kind: Kind) -> AuditEvent? {
    guard let (last, count) = waiting.removeValue(forKey: kind), count > 0 else { return nil }
    var event = last
    event.count = count
    if kind.client == nil { (event.address, event.token) = (nil, nil) }
    return event
  }

  /// Forgets all kinds, and answers those that waited.
  mutating func endAll() -> [AuditEvent] { waiting.keys.compactMap { end($0) } }
}
