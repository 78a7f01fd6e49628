import Dispatch
import SnapshotFormat
import SystemIO

/// Computes the digest of a file while it is transferred, on a thread of its own, so that the end of the transfer waits
/// only for the last bytes. Thread-safe.
///
/// It also starts to write the bytes of a download to the disk, which shortens the final synchronization.
final class GrowingDigest: Sendable {
  private struct State {
    var computation = DigestComputation()
    var file: File?
  }

  private let path: String
  private let queue = DispatchQueue(label: "snapshot.digest")
  private let state = Lock(State())
  private let isStopped = Lock(false)

  /// The digest of the file at `path`, which does not need to exist yet.
  init(of path: String) { self.path = path }

  /// Starts again, because the file was truncated or removed. Bytes that are written later must not be passed to
  /// ``follow(to:)`` before.
  func restart() {
    queue.async { self.state.withLock { $0 = State() } }
  }

  /// Processes the bytes before `end`, asynchronously. They must not change until ``restart()``.
  func follow(to end: Int64) {
    queue.async {
      do throws(SystemError) {
        try self.advance(to: end) { self.isStopped.value }
      } catch {
        // The error occurs again in `finish`, unless the download starts again before.
      }
    }
  }

  /// Makes pending calls of ``follow(to:)`` return early.
  func stop() { isStopped.set(true) }

  /// The size and digest of the whole file. Blocks while reading the remaining bytes; if `isCancelled` returns `true`,
  /// the result describes only a part of the file.
  func finish(isCancelled: () -> Bool) throws(SystemError) -> (size: Int64, sha256: ContentDigest) {
    stop()
    let result = queue.sync {
      Result { () throws(SystemError) in try self.advance(to: .max, isCancelled: isCancelled) }
    }
    try result.get()
    return state.withLock { ($0.computation.count, $0.computation.digest) }
  }

  private func advance(to end: Int64, isCancelled: () -> Bool) throws(SystemError) {
    try state.withLock { state throws(SystemError) in
      let file = if let file = state.file { file } else { try File(path) }
      state.file = file
      let start = state.computation.count
      try state.computation.follow(file, to: end, isCancelled: isCancelled)
      file.beginWriting(start..<state.computation.count)
    }
  }
}
