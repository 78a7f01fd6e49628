import AccessControl
import HTTPEngine
import SnapshotStore
import SystemIO

/// Reads the body of one request into a transient or resumable upload.
struct BodyReading: Sendable {
  private let appending: any UploadAppending
  private let check: ContentCheck?
  private let limits: UploadLimits
  private let onProgress: (@Sendable (Int64) async -> Void)?
  private let received = Lock<Int64>(0)

  init(
    into appending: any UploadAppending, check: ContentCheck? = nil, limits: UploadLimits,
    onProgress: (@Sendable (Int64) async -> Void)? = nil
  ) {
    self.appending = appending
    self.check = check
    self.limits = limits
    self.onProgress = onProgress
  }

  /// The number of bytes that were read.
  var count: Int64 { received.withLock { $0 } }

  /// Reads all of `body`, and ends the request. If reading fails, ``ending(_:)`` decides which received bytes count.
  /// After the task was cancelled, only bytes that have already arrived are read.
  func run(_ body: HTTPRequestBody) async -> Result<UploadSession, UploadError> {
    do {
      var pieces = body.makeAsyncIterator()
      try await read { try await pieces.next() }
      try check?.judge()
    } catch {
      do {
        _ = try await appending.end(Self.ending(error))
      } catch {
        // The caller needs the first failure.
      }
      return .failure(error)
    }
    do { return .success(try await appending.end(.finished)) } catch {
      return .failure(error)
    }
  }

  /// How the request ends after `error`, which decides whether the bytes before it count.
  private static func ending(_ error: UploadError) -> UploadEnding {
    switch error {
    case .exceeded, .digestMismatch, .digestMissing: .discarded
    default: .broken
    }
  }

  /// Reads piece by piece until `next` returns `nil`. An error that `next` throws is rethrown as
  /// ``UploadError/body(_:)``. The next piece is received from the network while earlier ones are being written, and
  /// while earlier ones are being made durable.
  func read(_ next: () async throws -> IOBuffer?) async throws(UploadError) {
    var saving: Task<Result<Int64, UploadError>, Never>?
    let failure: UploadError?
    do {
      try await receive(next, &saving)
      failure = nil
    } catch {
      failure = error
    }
    // The request can't be ended before.
    let saved = await saving?.value
    if let failure { throw failure }
    _ = try saved?.get()
  }

  /// Receives and writes all pieces.
  /// - Parameter saving: the task that makes received bytes durable; at most one runs.
  private func receive(
    _ next: () async throws -> IOBuffer?, _ saving: inout Task<Result<Int64, UploadError>, Never>?
  ) async throws(UploadError) {
    var (unsaved, savedAt) = (Int64(0), ContinuousClock.now)
    var (late, told) = (Int64(0), Int64(0))
    while let piece = try await Self.piece(next) {
      // A cancelled body still returns bytes that have already arrived. A fast sender must not delay the newer request.
      if Task.isCancelled { late += Int64(piece.count) }
      guard late <= limits.supersededBytes else { throw .body(CancellationError()) }
      await check?.update(piece)
      try await appending.write(piece)
      received.withLock { $0 += Int64(piece.count) }
      unsaved += Int64(piece.count)
      if unsaved >= limits.checkpointBytes || savedAt.duration(to: .now) >= limits.checkpointInterval {
        told = try await saving?.value.get() ?? told
        (unsaved, savedAt) = (0, .now)
        saving = Task { [told] in await save(after: told) }
      }
    }
  }

  /// Makes the received bytes durable, and tells their offset if it is beyond `told`.
  private func save(after told: Int64) async -> Result<Int64, UploadError> {
    do {
      let offset = try await appending.checkpoint()
      // With a digest, no offset is valid before the whole body was verified.
      if check == nil, offset > told { await onProgress?(offset) }
      return .success(offset)
    } catch {
      return .failure(error)
    }
  }

  private static func piece(_ next: () async throws -> IOBuffer?) async throws(UploadError) -> IOBuffer? {
    do { return try await next() } catch { throw .body(error) }
  }
}
