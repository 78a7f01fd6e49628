import AccessControl
import HTTPEngine
import SnapshotStore
import SystemIO

/// Reads one request's body into an upload.
struct BodyReading: Sendable {
  private let body: HTTPRequestBody
  private let appending: any UploadAppending
  private let check: ContentCheck?
  private let limits: UploadLimits
  private let onProgress: (@Sendable (Int64) async -> Void)?

  init(
    _ body: HTTPRequestBody, into appending: any UploadAppending, check: ContentCheck?, limits: UploadLimits,
    onProgress: (@Sendable (Int64) async -> Void)?
  ) {
    self.body = body
    self.appending = appending
    self.check = check
    self.limits = limits
    self.onProgress = onProgress
  }

  /// Reads all of it; what came is kept as it should be, however it ends. Once the task is cancelled it waits for no
  /// more than has come.
  func run() async -> Result<UploadSession, UploadError> {
    do throws(UploadError) {
      try await read()
      try check?.judge()
    } catch {
      do throws(UploadError) {
        _ = try await appending.end(Self.ending(error))
      } catch {
        // The first failure is the one to tell.
      }
      return .failure(error)
    }
    do throws(UploadError) { return .success(try await appending.end(.finished)) } catch {
      return .failure(error)
    }
  }

  /// What becomes of the bytes that came before `error`.
  private static func ending(_ error: UploadError) -> UploadEnding {
    switch error {
    case .exceeded, .digestMismatch, .digestMissing: .discarded
    default: .broken
    }
  }

  private func read() async throws(UploadError) {
    var (unsaved, savedAt) = (Int64(0), ContinuousClock.now)
    var late: Int64 = 0
    var piece = try await next().get()
    while let current = piece {
      // A cancelled body gives what has come already; a sender that is quick enough must not keep others waiting.
      if Task.isCancelled { late += Int64(current.count) }
      guard late <= limits.supersededBytes else { throw .body(CancellationError()) }
      // The next piece comes from the network while this one is written.
      async let coming = next()
      await check?.update(current)
      try await appending.write(current)
      unsaved += Int64(current.count)
      if unsaved >= limits.checkpointBytes || savedAt.duration(to: .now) >= limits.checkpointInterval {
        let offset = try await appending.checkpoint()
        (unsaved, savedAt) = (0, .now)
        // What is to be looked at as a whole has no offset to tell before.
        if check == nil { await onProgress?(offset) }
      }
      piece = try await coming.get()
    }
  }

  private func next() async -> Result<IOBuffer?, UploadError> {
    // Where a body goes on is the body's own state, not its iterator's.
    var iterator = body.makeAsyncIterator()
    do { return .success(try await iterator.next()) } catch { return .failure(.body(error)) }
  }
}
