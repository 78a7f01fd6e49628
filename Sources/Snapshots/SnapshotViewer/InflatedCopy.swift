import Dispatch
import SystemIO
import ZipArchive

/// An inflated copy of an entry of an archive, which can be read while it is being made. Thread-safe.
final class InflatedCopy: Sendable {
  private struct State {
    /// The number of bytes that were written.
    var count = 0
    /// How the copy ended; `nil` while it is being made.
    var outcome: Result<Void, ViewerError>?
    /// The readers that wait for bytes.
    var waiting: [DispatchSemaphore] = []
  }

  /// What contains the copy.
  let contents: CopyFile

  private let state = Lock(State())
  /// Its own, because readers block their queues until it has written what they need.
  private let queue = DispatchQueue(label: "copy", qos: .userInitiated)

  /// Starts to copy `entry` of `archive` to a file in `space`. The copying ends when the value is released.
  init(_ entry: ZipEntry, of archive: File, in space: CopySpace) throws(ViewerError) {
    contents = try space.makeCopy()
    queue.async { [weak self] in
      do throws(ZipError) {
        let contents = try ZipContents(archive, entry)
        while let self {
          guard let piece = try contents.next() else { return self.end(.success(())) }
          guard self.write(piece) else { return }
        }
      } catch {
        self?.end(.failure(.zip(error)))
      }
    }
  }

  /// Returns when the first `count` bytes are written, or all if there are fewer. Blocks until then.
  func wait(for count: Int) throws(ViewerError) {
    while true {
      let change = try state.withLock { state throws(ViewerError) -> DispatchSemaphore? in
        if state.count >= count { return nil }
        if let outcome = state.outcome {
          try outcome.get()
          return nil
        }
        let change = DispatchSemaphore(value: 0)
        state.waiting.append(change)
        return change
      }
      guard let change else { return }
      change.wait()
    }
  }

  /// Returns when all bytes are written and verified. Blocks until then.
  func complete() throws(ViewerError) {
    try wait(for: .max)
  }

  /// Returns whether the bytes could be written.
  private func write(_ piece: [UInt8]) -> Bool {
    let offset = state.withLock(\.count)
    do {
      try contents.write(piece, at: offset)
    } catch {
      end(.failure(error))
      return false
    }
    change { $0.count += piece.count }
    return true
  }

  private func end(_ outcome: Result<Void, ViewerError>) {
    change { $0.outcome = outcome }
  }

  private func change(_ body: (inout State) -> Void) {
    let waiting = state.withLock { state in
      body(&state)
      defer { state.waiting = [] }
      return state.waiting
    }
    for reader in waiting { reader.signal() }
  }
}
