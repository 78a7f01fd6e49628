import CPostgreSQL

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A connection to a database. Every call blocks its thread until the answer or the deadline, also if the server or the
/// network hangs. Only the resolution of a host's name is limited by the system instead.
///
/// A connection is used by one thread at a time: ``PostgreSQLPool`` gives each its own queue.
package final class PostgreSQLConnection {
  private let configuration: PostgreSQLConfiguration
  private let handle: OpaquePointer
  /// The names of the prepared statements.
  private var prepared: [Statement: String] = [:]
  /// Whether the connection can be used.
  package private(set) var isOpen = true
  /// Whether the connection was abandoned because the server did not answer.
  private(set) var isSilent = false
  /// When the connection was made.
  let openedAt: ContinuousClock.Instant
  /// When the current call of the pool has to end; `nil` for no limit.
  var callEnd: ContinuousClock.Instant?

  /// A statement, and the types of its parameters.
  private struct Statement: Hashable {
    let sql: String
    let types: [UInt32]
  }

  /// Connects to the database.
  package init(_ configuration: PostgreSQLConfiguration) throws(PostgreSQLError) {
    self.configuration = configuration
    openedAt = .now
    handle = try Self.start(configuration)
    // The default writes notices to stderr.
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
    try finishConnecting()
    guard PQsetnonblocking(handle, 1) == 0 else { throw .unavailable("out of memory") }
    let limit = configuration.statementTimeout.milliseconds
    try execute(
      """
      SET statement_timeout = \(limit); SET idle_in_transaction_session_timeout = \(2 * limit);
      \(configuration.session)
      """)
  }

  deinit { PQfinish(handle) }

  // MARK: - Statements

  /// Executes a statement, which is prepared when it is executed for the first time.
  package func query(
    _ sql: String, _ parameters: [PostgreSQLValue] = []
  ) throws(PostgreSQLError) -> PostgreSQLResult {
    guard parameters.count <= PostgreSQLLimits.parameters else {
      throw .unexpectedResult("A statement has \(parameters.count) parameters.")
    }
    let deadline = statementDeadline
    let name = try prepare(sql, parameters, deadline)
    let values = parameters.map(\.encoded)
    guard values.allSatisfy({ $0.map { $0.count <= PostgreSQLLimits.valueBytes } ?? true }) else {
      throw .unexpectedResult("A parameter is too large.")
    }
    let lengths = values.map { Int32($0?.count ?? 0) }
    let formats = [Int32](repeating: 1, count: values.count)
    let isSent = Self.withPointers(to: values) { pointers in
      PQsendQueryPrepared(handle, name, Int32(values.count), pointers, lengths, formats, 1) == 1
    }
    guard isSent else { throw lost() }
    return try lastResult(deadline)
  }

  /// Executes one or more statements without parameters. Several are one transaction.
  package func execute(_ script: String) throws(PostgreSQLError) {
    guard PQsendQuery(handle, script) == 1 else { throw lost() }
    _ = try lastResult(statementDeadline)
  }

  /// Runs `body` in a transaction, which is rolled back if `body` throws.
  package func transaction<Value>(
    _ kind: TransactionKind = .readWrite, _ body: (PostgreSQLConnection) throws -> Value
  ) throws -> Value {
    try execute(kind.begin)
    let value: Value
    do {
      value = try body(self)
    } catch {
      rollBack()
      throw error
    }
    guard PQsendQuery(handle, "COMMIT") == 1 else { throw lost() }
    let result = try lastResult(statementDeadline)
    guard result.command == "COMMIT" else {
      throw PostgreSQLError.unexpectedResult("A transaction was continued after a failed statement.")
    }
    return value
  }

  /// Ends a failed transaction. If that fails too, the connection cannot be used again.
  private func rollBack() {
    guard isOpen else { return }
    do { try execute("ROLLBACK") } catch { isOpen = false }
  }

  /// The isolation of a transaction.
  package enum TransactionKind: Sendable {
    /// Each statement sees what was committed before it.
    case readWrite
    /// All statements see the same state of the database, and change nothing.
    case snapshot

    fileprivate var begin: String {
      switch self {
      case .readWrite: "BEGIN"
      case .snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
      }
    }
  }

  // MARK: - Notifications

  /// The descriptor of the socket, which is readable when a notification arrives.
  var descriptor: Int32 { PQsocket(handle) }

  /// Returns the notifications that have arrived. Throws if the connection has ended.
  func takeNotifications() throws(PostgreSQLError) -> [PostgreSQLNotification] {
    guard PQconsumeInput(handle) == 1 else { throw lost() }
    var notifications: [PostgreSQLNotification] = []
    while let found = PQnotifies(handle) {
      notifications.append(
        PostgreSQLNotification(
          channel: String(cString: found.pointee.relname), payload: String(cString: found.pointee.extra)))
      PQfreemem(found)
    }
    return notifications
  }

  /// Whether the server has not ended the connection, as far as that is known without asking it.
  func isAlive() -> Bool {
    guard isOpen else { return false }
    var event = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    // What an idle server sends are notices, and the reason for which it ends the connection; the end follows.
    while poll(&event, 1, 0) > 0 {
      guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { return false }
    }
    return true
  }

  // MARK: - Connecting

  private static func start(_ configuration: PostgreSQLConfiguration) throws(PostgreSQLError) -> OpaquePointer
  {
    let names = configuration.parameters.keys.sorted()
    let values = names.map { configuration.parameters[$0].map { Array($0.utf8) + [0] } }
    let handle = withPointers(to: names.map { Array($0.utf8) + [0] } + [nil]) { names in
      withPointers(to: values + [nil]) { PQconnectStartParams(names, $0, 0) }
    }
    guard let handle else { throw .unavailable("out of memory") }
    return handle
  }

  private func finishConnecting() throws(PostgreSQLError) {
    let deadline = ContinuousClock.now + configuration.connectTimeout
    guard PQstatus(handle) != CONNECTION_BAD else { throw .unavailable(message) }
    var next = PGRES_POLLING_WRITING
    while next != PGRES_POLLING_OK {
      switch next {
      case PGRES_POLLING_READING: try connectWait(POLLIN, deadline)
      case PGRES_POLLING_WRITING: try connectWait(POLLOUT, deadline)
      default:
        isOpen = false
        throw .unavailable(message)
      }
      next = PQconnectPoll(handle)
    }
  }

  private func connectWait(_ events: Int32, _ deadline: ContinuousClock.Instant) throws(PostgreSQLError) {
    do { _ = try wait(events, deadline) } catch {
      throw .unavailable("no answer within \(configuration.connectTimeout)")
    }
  }

  // MARK: - Sending and receiving

  private var statementDeadline: ContinuousClock.Instant {
    let (now, margin) = (ContinuousClock.now, configuration.answerMargin)
    let deadline = now + configuration.statementTimeout + margin
    // The server is not silent if only the caller took its time.
    return callEnd.map { max(now + margin, min($0, deadline)) } ?? deadline
  }

  private func prepare(
    _ sql: String, _ parameters: [PostgreSQLValue], _ deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) -> String {
    let types = parameters.map(\.type)
    let statement = Statement(sql: sql, types: types)
    if let name = prepared[statement] { return name }
    if prepared.count >= PostgreSQLLimits.preparedStatements {
      try execute("DEALLOCATE ALL")
      prepared.removeAll()
    }
    let name = "s\(prepared.count)"
    guard PQsendPrepare(handle, name, sql, Int32(types.count), types) == 1 else { throw lost() }
    _ = try lastResult(deadline)
    prepared[statement] = name
    return name
  }

  /// Writes everything that waits for the socket.
  private func flush(_ deadline: ContinuousClock.Instant) throws(PostgreSQLError) {
    while true {
      let outcome = PQflush(handle)
      if outcome == 0 { return }
      guard outcome == 1 else { throw lost() }
      // The server may have to write before it reads on.
      if try wait(POLLIN | POLLOUT, deadline) & POLLIN != 0, PQconsumeInput(handle) == 0 { throw lost() }
    }
  }

  /// Returns the next result of a statement; `nil` after the last.
  private func nextResult(_ deadline: ContinuousClock.Instant) throws(PostgreSQLError) -> OpaquePointer? {
    try flush(deadline)
    while PQisBusy(handle) == 1 {
      _ = try wait(POLLIN, deadline)
      guard PQconsumeInput(handle) == 1 else { throw lost() }
    }
    return PQgetResult(handle)
  }

  /// Reads all results of a statement, and returns the last. Throws the first error.
  private func lastResult(_ deadline: ContinuousClock.Instant) throws(PostgreSQLError) -> PostgreSQLResult {
    var last: PostgreSQLResult?
    var failure: PostgreSQLError?
    while let pointer = try nextResult(deadline) {
      switch PQresultStatus(pointer) {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: last = PostgreSQLResult(owning: pointer)
      default:
        failure = failure ?? error(of: pointer)
        PQclear(pointer)
      }
      guard PQstatus(handle) == CONNECTION_OK else { throw lost() }
    }
    if let failure { throw failure }
    guard let last else { throw lost() }
    return last
  }

  /// Waits until the socket is ready. After the deadline the connection is closed.
  private func wait(
    _ events: Int32, _ deadline: ContinuousClock.Instant
  ) throws(PostgreSQLError) -> Int32 {
    while true {
      let left = ContinuousClock.now.duration(to: deadline).milliseconds
      guard left > 0 else {
        (isOpen, isSilent) = (false, true)
        throw .timeout
      }
      var event = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
      if poll(&event, 1, Int32(clamping: left)) > 0 {
        let ready = Int32(event.revents)
        // Reading reports the failure of a socket.
        return ready & (POLLERR | POLLHUP | POLLNVAL) != 0 ? ready | POLLIN : ready
      }
    }
  }

  // MARK: - Errors

  private var message: String {
    configuration.withoutPassword(String(cString: PQerrorMessage(handle))).trimmed
  }

  private func lost() -> PostgreSQLError {
    isOpen = false
    return .connectionLost(message)
  }

  private func error(of result: OpaquePointer) -> PostgreSQLError {
    func field(_ code: CChar) -> String {
      PQresultErrorField(result, Int32(code)).map { String(cString: $0) } ?? ""
    }
    let state = field(snapshot_pq_state)
    guard !state.isEmpty else { return lost() }
    return PostgreSQLError(
      state: state, message: configuration.withoutPassword(field(snapshot_pq_primary)),
      constraint: field(snapshot_pq_constraint))
  }

  /// Calls `body` with pointers to the contents of `values`, which libpq does not change.
  private static func withPointers<Value>(
    to values: [[UInt8]?], _ body: (UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> Value
  ) -> Value {
    let bytes = values.reduce(into: [UInt8]()) { $0 += $1 ?? [] } + [0]
    return bytes.withUnsafeBytes { bytes in
      var start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      var pointers = values.map { value -> UnsafePointer<CChar>? in
        guard let value else { return nil }
        defer { start = start?.advanced(by: value.count) }
        return start
      }
      return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress) }
    }
  }
}

extension String {
  /// The text without spaces and line ends at its beginning and end, in one line.
  fileprivate var trimmed: String { split(whereSeparator: \.isNewline).joined(separator: " ") }
}
