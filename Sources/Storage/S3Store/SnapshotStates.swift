import Foundation
import S3Client
import SnapshotFormat
import SnapshotStore
import SystemIO

/// Reads and changes the states of UUIDs, atomically: of several writers, on any server, one wins, and the others read
/// again and decide again.
struct SnapshotStates: Sendable {
  /// How a state was created.
  enum Creation: Sendable {
    case created
    /// The UUID was taken, and has this state.
    case taken(StoredState)
  }

  /// What a change makes of a bundle.
  enum Decision: Sendable {
    case keep
    case write(StoredState.Content)
  }

  /// How often a write is tried before the store counts as unavailable. Each round, one of the writers succeeds.
  private static let rounds = 100
  /// The maximum pause after a round, in seconds. It grows by this each round, up to ``longestPause``.
  private static let pause = 0.01
  private static let longestPause = 0.2

  let client: S3Client
  let writer: S3ConditionalWriter
  /// Finds the changes that the catalogue lacks; `nil` if all records are compared with it instead.
  let journal: ChangeJournal?

  /// The state of a UUID, and the version of its object; `nil` if it was never used. Throws ``StoreError/damaged``.
  func read(_ id: SnapshotID) async throws(StoreError) -> (state: StoredState, version: S3ETag)? {
    let object = try await StoreError.accessing { () async throws(S3Error) in try await client.read(id) }
    guard let object else { return nil }
    guard let state = object.state else { throw .damaged }
    return (state, object.version)
  }

  /// The record of a published bundle, and the name of its bytes. Throws ``StoreError/notFound``,
  /// ``StoreError/deleted`` or ``StoreError/damaged``.
  func published(_ id: SnapshotID) async throws(StoreError) -> (record: SnapshotRecord, attempt: SnapshotID) {
    guard let (state, _) = try await read(id) else { throw .notFound }
    guard case .published(let record, let attempt) = state.content else { throw .deleted }
    return (record, attempt)
  }

  /// Takes a UUID for `content`, unless it is taken.
  func create(_ id: SnapshotID, _ content: StoredState.Content) async throws(StoreError) -> Creation {
    let change = StoredState.ChangeID()
    let bytes = try encode(StoredState(content, by: change))
    let intent = ChangeIntent(change, of: id, isCreation: true)
    return try await journaled(intent) { progress async throws(StoreError) in
      for round in 1...Self.rounds {
        let outcome = try await progress.write(content) { () async throws(S3Error) in
          try await writer.create(ObjectKeys.record(id), bytes)
        }
        if case .written = outcome {
          progress.outcome = .written(content.record)
          return .created
        }
        if let present = try await read(id)?.state {
          let isOwn = present.changes.contains(change)
          progress.outcome = isOwn ? .written(content.record) : .withoutEffect
          return isOwn ? .created : .taken(present)
        }
        try await pause(after: round)
      }
      throw .unavailable("The record of \(id) can't be created.")
    }
  }

  /// Changes a published bundle. Throws ``StoreError/notFound`` or ``StoreError/deleted`` if there is none.
  ///
  /// A write without an answer can be executed at any later time, but only while the object has the version that the
  /// write was decided by. So if one of the writes was executed, it was the one of the last decision.
  /// - Parameters:
  ///   - id: the UUID of the bundle.
  ///   - decide: decides what is written, by the present record and the name of its bytes. It is called again after
  ///     another writer has won.
  /// - Returns: the record and the name of its bytes on which the final decision was made.
  @discardableResult
  func change(
    _ id: SnapshotID,
    _ decide: (SnapshotRecord, _ attempt: SnapshotID) throws(StoreError) -> Decision
  ) async throws(StoreError) -> (record: SnapshotRecord, attempt: SnapshotID) {
    let change = StoredState.ChangeID()
    return try await journaled(ChangeIntent(change, of: id)) { progress async throws(StoreError) in
      var decided: (record: SnapshotRecord, attempt: SnapshotID, content: StoredState.Content)?
      var base: S3ETag?
      for round in 1...Self.rounds {
        guard let (present, version) = try await read(id) else { throw .notFound }
        if let decided, present.changes.contains(change) {
          progress.outcome = .written(decided.content.record)
          return (decided.record, decided.attempt)
        }
        if version != base { progress.outcome = .withoutEffect }
        guard case .published(let record, let attempt) = present.content else { throw .deleted }
        guard case .write(let content) = try decide(record, attempt) else { return (record, attempt) }
        (decided, base) = ((record, attempt, content), version)
        let bytes = try encode(StoredState(content, by: change, after: present))
        let outcome = try await progress.write(content) { () async throws(S3Error) in
          try await writer.replace(ObjectKeys.record(id), bytes, version: version)
        }
        if case .written = outcome {
          progress.outcome = .written(content.record)
          return (record, attempt)
        }
        try await pause(after: round)
      }
      throw .unavailable("The record of \(id) can't be changed: others change it too often.")
    }
  }

  /// Runs `body`, which makes a change, and reports to the journal how it ended.
  private func journaled<Value>(
    _ change: ChangeIntent, _ body: (inout Progress) async throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    var progress = Progress(change: change, journal: journal)
    do {
      let value = try await body(&progress)
      journal?.end(change, progress.outcome)
      return value
    } catch {
      journal?.end(change, progress.outcome)
      throw error
    }
  }

  /// What is known about the writes of one change.
  private struct Progress {
    let change: ChangeIntent
    let journal: ChangeJournal?
    /// How the change would have ended if no other write followed.
    var outcome = ChangeJournal.Outcome.withoutEffect

    /// Sends a write of `content`, once the journal is prepared for it.
    mutating func write(
      _ content: StoredState.Content, _ send: () async throws(S3Error) -> S3ConditionalWriter.Outcome
    ) async throws(StoreError) -> S3ConditionalWriter.Outcome {
      try await journal?.prepare(change, needsIntent: content == .deleted)
      let sent = try await StoreError.accessing(send)
      outcome = .unknown
      return sent
    }
  }

  /// Makes `content` the state of a UUID, whatever it has, even if that can't be read. Only for a store that no server
  /// uses.
  /// - Returns: the former state, if there was one that can be read.
  func replace(_ id: SnapshotID, with content: StoredState.Content) async throws(StoreError) -> StoredState? {
    let change = StoredState.ChangeID()
    var former: StoredState?
    for round in 1...Self.rounds {
      let present = try await StoreError.accessing { () async throws(S3Error) in try await client.read(id) }
      if let present = present?.state, present.changes.contains(change) { return former }
      former = present?.state
      let bytes = try encode(StoredState(content, by: change, after: former))
      let outcome = try await StoreError.accessing { () async throws(S3Error) in
        if let present {
          try await writer.replace(ObjectKeys.record(id), bytes, version: present.version)
        } else {
          try await writer.create(ObjectKeys.record(id), bytes)
        }
      }
      if case .written = outcome { return former }
      try await pause(after: round)
    }
    throw .unavailable("The record of \(id) can't be replaced: others change it too often.")
  }

  private func encode(_ state: StoredState) throws(StoreError) -> Data {
    do { return try state.encoded() } catch {
      throw .system(SystemError(operation: "encode", code: POSIXErrorCode.EBADMSG.rawValue))
    }
  }

  private func pause(after round: Int) async throws(StoreError) {
    let limit = min(Self.pause * Double(round), Self.longestPause)
    do { try await client.environment.sleep(.seconds(limit * client.environment.random())) } catch {
      throw .unavailable("The request was cancelled.")
    }
  }
}

extension S3Client {
  /// The state of a UUID, and the version of its object; `nil` if the UUID was never used. The state is `nil` if the
  /// object is damaged.
  func read(_ id: SnapshotID) async throws(S3Error) -> (state: StoredState?, version: S3ETag)? {
    do {
      let object = try await get(ObjectKeys.record(id), limit: S3StoreLimits.recordBytes)
      return (StoredState(object.bytes, of: id), object.info.etag)
    } catch {
      if error.isNotFound { return nil }
      throw error
    }
  }
}
