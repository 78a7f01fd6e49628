import HTTPEngine
import Logging
import Observability

/// The sessions of signed-in users. The browser's cookie contains a session's secret, 256 random bits; the server
/// stores only its SHA-256.
///
/// On a single server they are in memory, so a restart ends all of them. Servers that share their snapshots have a table
/// of them, so that a session is valid on all servers. Each server remembers the sessions that are used there, and
/// continues with these while the table does not answer.
final class Sessions: Sendable {
  /// How often the use of a session is reported to the other servers, at most.
  private static let reportInterval = Duration.seconds(60)
  /// How often the sessions in memory are compared with the table.
  private static let comparisonInterval = Duration.seconds(5)

  private let limits: SessionLimits
  private let table: SessionTable
  private let shared: (any SharedSessions)?
  private let clock: AccessClock
  private let logger: Logger

  init(_ limits: SessionLimits, shared: (any SharedSessions)?, clock: AccessClock, logger: Logger) {
    (self.limits, self.shared, self.clock, self.logger) = (limits, shared, clock, logger)
    table = SessionTable(limits, clock: clock)
  }

  /// Starts a session with the token of this id and returns its secret. Throws if the other servers can't know it.
  func begin(_ token: String) async throws(HTTPProblem) -> String {
    let secret = RandomSecret.make()
    let key = SessionKey(of: secret)
    try await ask { try await $0.insert(key, token: token, limits: self.limits) }
    table.add(key, SharedSession(token: token))
    return secret
  }

  /// Returns the id of the token of the session with `secret`, and counts as use of the session. Returns `nil` if the
  /// session does not exist or has ended. Throws if only another server knows.
  func token(of secret: String) async throws(HTTPProblem) -> String? {
    let key = SessionKey(of: secret)
    if let token = table.token(of: key) {
      if let shared, table.startsReport(of: key, every: Self.reportInterval) {
        Task { [logger] in
          do { try await shared.use(key) } catch {
            logger.warning("The use of a session can't be reported", metadata: ["error": "\(error)"])
          }
        }
      }
      return token
    }
    guard let session = try await ask({ try await $0.find(key, limits: self.limits) }) ?? nil else {
      return nil
    }
    table.add(key, session)
    try await ask { try await $0.use(key) }
    return table.token(of: key)
  }

  /// Ends a session on all servers. Has no effect if it does not exist. Throws if other servers still accept it.
  func end(_ secret: String) async throws(HTTPProblem) {
    let key = SessionKey(of: secret)
    table.remove(key)
    try await ask { try await $0.remove(key) }
  }

  /// Removes a session from the memory of this server.
  func forget(_ secret: String) { table.remove(SessionKey(of: secret)) }

  /// Removes the sessions that end on other servers, until the task is cancelled.
  func watch() async {
    guard let shared else { return }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [self] in
        for await key in shared.removals() {
          if let key { table.remove(key) } else { await compare(shared) }
        }
      }
      group.addTask { [self] in
        while !Task.isCancelled {
          do { try await clock.sleep(Self.comparisonInterval) } catch { return }
          await compare(shared)
        }
      }
    }
  }

  private func compare(_ shared: any SharedSessions) async {
    let keys = table.keys
    guard !keys.isEmpty else { return }
    do {
      let existing = try await shared.existing(keys)
      for key in keys where !existing.contains(key) { table.remove(key) }
    } catch {
      logger.warning("The sessions can't be compared with the database", metadata: ["error": "\(error)"])
    }
  }

  /// Returns the answer of the shared table; `nil` if there is none.
  @discardableResult
  private func ask<Value>(
    _ question: (any SharedSessions) async throws -> Value
  ) async throws(HTTPProblem) -> Value? {
    guard let shared else { return nil }
    do { return try await question(shared) } catch {
      logger.error("The database of the sessions does not answer", metadata: ["error": "\(error)"])
      throw HTTPProblem.accessUnavailable
    }
  }
}
