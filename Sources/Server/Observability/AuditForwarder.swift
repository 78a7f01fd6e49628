import Foundation
package import Logging
package import SnapshotFormat
import SnapshotStore
package import SystemIO

/// Copies the lines of an audit log into the table that several servers share, within about a second after they were
/// written.
///
/// The files remain the durable record, in which a line is before its action is answered. A line is copied when it also
/// survives a power failure. The table notes how much of a file it has in the transaction that adds lines, so that it
/// gets each line exactly once, whatever fails in between. After a time without the table, and into a new one, the lines
/// are copied that it lacks, as far as the files have them.
package final class AuditForwarder: Sendable {
  /// The time between two passes.
  package static let interval = Duration.seconds(1)
  /// The time after which the table is trimmed, if no file was added to it.
  private static let trimInterval = Duration.seconds(600)

  private struct State {
    /// How much of each file the table has; `nil` if that is unknown.
    var positions: [ContentDigest: Int64]?
    /// The sizes of the files that the table has completely.
    var copied: [FileIdentity: Int64] = [:]
    var batchBytes = AuditLimits.batchBytes.upperBound
    /// The number of files when the table was last trimmed, and the time.
    var trimmed: (files: Int, at: ContinuousClock.Instant)?
    var isFailing = false
    /// The current pass. The other properties are changed by it alone.
    var pass: Task<Bool, any Error>?
  }

  private let log: AuditLog.Configuration
  private let shared: any SharedAudit
  private let server: SnapshotID
  private let logger: Logger
  private let queue = ServerQueues.shared.background.next
  private let state = Lock(State())

  /// Creates a forwarder, and the file with the id of this server if it does not exist. Blocks.
  /// - Parameters:
  ///   - log: the files.
  ///   - shared: the table.
  ///   - idPath: the path of a file that identifies the server to which the files belong.
  ///   - logger: receives failures.
  package init(
    _ log: AuditLog.Configuration, to shared: any SharedAudit, idPath: String, logger: Logger
  ) throws(SystemError) {
    self.log = log
    self.shared = shared
    self.logger = logger
    server = try Self.id(at: idPath)
  }

  private static func id(at path: String) throws(SystemError) -> SnapshotID {
    if try Folder.exists(path) {
      let text = String(decoding: try File(path).read(upTo: 64, at: 0), as: UTF8.self)
      if let id = SnapshotID(text.trimmingCharacters(in: .whitespacesAndNewlines)) { return id }
    }
    let id = SnapshotID()
    let staged = "\(path).staged"
    try Folder.removeIfPresent(staged)
    let file = try File(staged, .create(mode: 0o600))
    try file.write(Array("\(id)\n".utf8), at: 0)
    try file.synchronize()
    try Folder.replace(path, with: staged)
    try Folder.synchronize(Folder.parent(of: path))
    return id
  }

  /// Copies lines until the task is cancelled.
  package func run() async {
    while !Task.isCancelled {
      do {
        if try await forward() { continue }
      } catch {
        // It is logged. The next pass repeats it.
      }
      do { try await Task.sleep(for: Self.interval) } catch { return }
    }
  }

  /// Copies the lines that are in the files, or waits until another caller has. Throws if the table does not answer.
  /// - Returns: whether more remains, because it exceeds ``AuditLimits/passBytes``.
  @discardableResult
  package func forward() async throws -> Bool {
    let pass = state.withLock { state in
      if let pass = state.pass { return pass }
      let pass = Task {
        let outcome = await self.runPass()
        self.state.withLock { $0.pass = nil }
        return try outcome.get()
      }
      state.pass = pass
      return pass
    }
    return try await pass.value
  }

  /// Reads the newest actions on a snapshot at all servers. Throws if the table does not answer.
  package func trail(
    of id: SnapshotID, limits: AuditTrail.Limits = .default
  ) async throws -> AuditTrail {
    // What this server just did is expected to be there.
    try await forward()
    return AuditTrail(try await shared.lines(about: id, limit: limits.events + 1), limit: limits.events)
  }

  // MARK: - One pass

  private func runPass() async -> Result<Bool, any Error> {
    do {
      let remains = try await copyFiles()
      try await trim()
      let wasFailing = state.withLock { state in
        defer { state.isFailing = false }
        return state.isFailing
      }
      if wasFailing { logger.notice("The audit log is copied to the database again") }
      return .success(remains)
    } catch {
      let isNew = state.withLock { state in
        defer { state.isFailing = true }
        // It is unknown whether the last batch was added.
        (state.positions, state.copied) = (nil, [:])
        state.batchBytes = max(state.batchBytes / 2, AuditLimits.batchBytes.lowerBound)
        return !state.isFailing
      }
      if isNew {
        logger.warning(
          "The audit log can't be copied to the database; it will be copied later",
          metadata: ["error": "\(error)"])
      }
      return .failure(error)
    }
  }

  private func copyFiles() async throws -> Bool {
    var (positions, copied, batchBytes) = state.withLock { ($0.positions, $0.copied, $0.batchBytes) }
    var known = try await Self.value(positions) { try await shared.positions(of: server) }
    var rest = AuditLimits.passBytes
    var seen: [FileIdentity: Int64] = [:]
    for found in log.filePaths {
      let file = try await queue.perform { [copied] () throws(SystemError) in
        try ForwardedFile(found.path, isRefused: found.isRefused, copied: copied, changes: found.changes)
      }
      guard let file else { continue }
      var position = known[file.id] ?? 0
      while rest > 0,
        let batch = try await queue.perform({ [position, batchBytes] () throws(SystemError) in
          try file.batch(from: position, limit: batchBytes)
        })
      {
        guard try await shared.append(batch, of: server) else { throw Outdated() }
        rest -= Int64(batch.range.count)
        position = batch.range.upperBound
        known[file.id] = position
      }
      guard rest > 0 else { break }
      seen[file.identity] = file.size
    }
    copied.merge(seen) { _, new in new }
    positions = known
    batchBytes = AuditLimits.batchBytes.upperBound
    state.withLock { state in
      (state.positions, state.batchBytes) = (positions, batchBytes)
      // Files that were removed are forgotten from time to time.
      state.copied = copied.count > 4 * (log.keptFiles + 2) ? seen : copied
    }
    return rest <= 0
  }

  /// Removes lines of files that the log does not keep any more.
  private func trim() async throws {
    let files = state.withLock { state -> Int? in
      let count = state.positions?.count ?? 0
      if let trimmed = state.trimmed, trimmed.files == count, trimmed.at + Self.trimInterval > .now {
        return nil
      }
      return count
    }
    guard let files else { return }
    try await shared.trim(server, keeping: max(log.keptFiles, 1) + 1)
    state.withLock { $0.trimmed = (files, .now) }
  }

  private static func value<Value>(_ known: Value?, or find: () async throws -> Value) async throws -> Value {
    if let known { return known }
    return try await find()
  }

  /// The table has another part of a file than was expected.
  private struct Outdated: Error, CustomStringConvertible {
    var description: String { "Another process copies the same file." }
  }
}
