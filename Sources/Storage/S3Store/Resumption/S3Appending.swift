import Foundation
import S3Client
import SnapshotStore
import SystemIO

/// A request that appends to a resumable upload of an ``S3BundleStore``.
///
/// The bytes are written to a local file first. To make them durable, they are written as parts of the upload's object,
/// and those that are too few for a part to its row. The lease is renewed only while bytes arrive, so that another server
/// can take over from one whose client is gone.
final class S3Appending: UploadAppending {
  private struct State {
    /// The row as it was read or written last.
    var row: UploadRow
    /// Like the row's session, but with the length that the request stated.
    var session: UploadSession
    /// Counts the bytes received; the last of them may not be written yet.
    var append: UploadAppend
    /// Whether the row reserves a number for the next part.
    var hasNumber = false
    /// The failure after which the row is possibly another one.
    var loss: UploadError?
    var renewedAt = ContinuousClock.now
  }

  private let lease: UploadLease
  private let leases: UploadLeases
  private let objects: UploadObjects
  private let staged: StagedUpload
  /// The offset of the first byte in the local file.
  private let base: Int64
  private let copies: UploadCopies
  private let now: @Sendable () -> Date
  private let state: Lock<State>

  /// - Parameters:
  ///   - append: the request as `session` admitted it.
  ///   - staged: the local file: the bytes from `base` to the upload's end.
  init(
    _ append: UploadAppend, _ session: UploadSession, _ held: UploadLeases.Held, leases: UploadLeases,
    objects: UploadObjects, staged: StagedUpload, base: Int64, copies: UploadCopies,
    now: @escaping @Sendable () -> Date
  ) {
    lease = held.lease
    self.leases = leases
    self.objects = objects
    self.staged = staged
    self.base = base
    self.copies = copies
    self.now = now
    state = Lock(State(row: held.row, session: session, append: append))
  }

  func write(_ bytes: IOBuffer) async throws(UploadError) {
    let isDue = try state.withLock { state throws(UploadError) in
      if let loss = state.loss { throw loss }
      try state.append.receive(bytes.count)
      let isDue = state.renewedAt.duration(to: .now) >= leases.duration / 3
      if isDue { state.renewedAt = .now }
      return isDue
    }
    try await UploadError.storing { () async throws(StoreError) in try await staged.append(bytes) }
    guard isDue else { return }
    try await Self.uncancelled { [self] () async throws(UploadError) in
      try await rememberingLoss { () async throws(UploadError) in try await leases.renew(lease) }
    }
  }

  func checkpoint() async throws(UploadError) -> Int64 {
    let end = min(state.withLock { $0.append.countable }, written)
    if let failure = staged.failure { throw .store(failure) }
    return try await Self.uncancelled { [self] () async throws(UploadError) in
      try await keep(end, isLast: false).offset
    }
  }

  func end(_ ending: UploadEnding) async throws(UploadError) -> UploadSession {
    try await Self.uncancelled { [self] () async throws(UploadError) in
      do throws(UploadError) {
        let session = try await conclude(ending)
        release(session)
        return session
      } catch {
        await leases.end(lease)
        release(state.withLock { $0.row.session })
        throw error
      }
    }
  }

  /// Runs `body` to its end. A newer request cancels the task of this one, and the bytes that have arrived count
  /// nevertheless; but in a cancelled task, requests to the object store end.
  private static func uncancelled<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(UploadError) -> Value
  ) async throws(UploadError) -> Value {
    let task = Task { () async -> Result<Value, UploadError> in
      do throws(UploadError) { return .success(try await body()) } catch { return .failure(error) }
    }
    return try await task.value.get()
  }

  /// The offset at which the bytes in the local file end.
  private var written: Int64 { base + staged.size }

  /// Makes the bytes durable that count with this ending, and ends the lease.
  private func conclude(_ ending: UploadEnding) async throws(UploadError) -> UploadSession {
    let (append, durable) = state.withLock { ($0.append, $0.row.session) }
    switch ending {
    case .discarded:
      await leases.end(lease)
      return durable
    case .broken: return try await keep(min(append.countable, written), isLast: true)
    case .finished:
      guard written == append.end else {
        // Bytes are missing in the local file. Those before them count as for a request that broke off.
        _ = try await keep(min(append.countable, written), isLast: true)
        throw .store(staged.failure ?? .notFound)
      }
      var failure: UploadError?
      let session = try await keep(append.end, isLast: true) { session in
        do throws(UploadError) { try session.finish(append, at: now()) } catch { failure = error }
      }
      if let failure { throw failure }
      return session
    }
  }

  /// Makes the bytes before `end` durable, and then the session that contains them and the result of `change`.
  private func keep(
    _ end: Int64, isLast: Bool, _ change: (inout UploadSession) -> Void = { _ in }
  ) async throws(UploadError) -> UploadSession {
    try await rememberingLoss { () async throws(UploadError) in
      try await storeParts(before: end)
      let (durable, session) = state.withLock { ($0.row, $0.session) }
      var row = durable
      row.session = session
      row.session.advance(to: end, at: now())
      change(&row.session)
      row.tail = try await UploadError.storing { () async throws(StoreError) in
        try await staged.bytes(in: row.object.length - base..<max(end, durable.session.offset) - base)
      }
      if row != durable {
        try await save(row, isLast: isLast)
      } else if isLast {
        await leases.end(lease)
      }
      return row.session
    }
  }

  /// Writes the bytes before `end` as parts of the object, except the last if they are too few for a part.
  private func storeParts(before end: Int64) async throws(UploadError) {
    while true {
      var (row, hasNumber) = state.withLock { ($0.row, $0.hasNumber) }
      let start = row.object.length
      guard end - start >= objects.partBytes else { return }
      if !hasNumber { try await reserveNumber(&row) }
      let range = start..<min(end, start + max(S3StoreLimits.partBytes, objects.partBytes))
      try await UploadError.storing { () async throws(StoreError) in
        let body = try await staged.body(of: range.lowerBound - base..<range.upperBound - base)
        try await objects.write(body, size: Int64(range.count), to: &row.object)
        hasNumber = row.object.reserveNumber()
      }
      // The tail before these bytes is a part of them, so no byte counts twice.
      row.tail = []
      row.session.advance(to: range.upperBound, at: now())
      try await save(row, isLast: false)
      state.withLock { $0.hasNumber = hasNumber }
    }
  }

  /// Reserves a number for the next part, because an older one can still be written late.
  private func reserveNumber(_ row: inout UploadRow) async throws(UploadError) {
    if case .none = row.object.contents {
      var object = row.object
      try await UploadError.storing { () async throws(StoreError) in try await objects.begin(&object) }
      row.object = object
    }
    guard row.object.reserveNumber() else {
      throw .store(.unavailable("An upload has used all numbers of parts."))
    }
    try await save(row, isLast: false)
  }

  private func save(_ row: UploadRow, isLast: Bool) async throws(UploadError) {
    try await leases.save(row, under: lease, isLast: isLast)
    state.withLock { state in
      state.row = row
      state.session.advance(to: row.session.offset, at: row.session.progress.touchedAt)
      state.renewedAt = .now
    }
  }

  /// Runs `body`. After a failure, only the row says what was stored, so every later call throws it too.
  private func rememberingLoss<Value>(
    _ body: () async throws(UploadError) -> Value
  ) async throws(UploadError) -> Value {
    if let loss = state.withLock({ $0.loss }) { throw loss }
    do { return try await body() } catch {
      state.withLock { $0.loss = error }
      throw error
    }
  }

  /// Keeps the local file if it holds all durable bytes and no others, and otherwise removes it.
  private func release(_ session: UploadSession) {
    let isLost = state.withLock { $0.loss != nil }
    if base == 0, !isLost, written == session.offset {
      copies.keep(staged, of: session.id)
    } else {
      staged.remove()
    }
  }
}

extension UploadObject {
  /// Reserves a number for the next part. It is reserved once the row is stored.
  /// - Returns: whether there is one.
  fileprivate mutating func reserveNumber() -> Bool {
    guard case .parts(let upload, let parts, let number) = contents, number < S3Limits.parts else {
      return false
    }
    contents = .parts(upload: upload, parts, lastNumber: number + 1)
    return true
  }
}
