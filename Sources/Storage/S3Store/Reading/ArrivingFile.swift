import Dispatch
import SnapshotStore
import SystemIO

/// A file into which an object is being read from the object store, and which others read meanwhile. Thread-safe.
final class ArrivingFile: Sendable {
  /// `nil` if the object store does not have the object.
  typealias Outcome = Result<File?, StoreError>

  private struct State {
    var file: File?
    var outcome: Outcome?
    var waiting: [CheckedContinuation<Outcome, Never>] = []
  }

  private let state = Lock(State())

  /// States that the bytes will be written to `file`, in order. If reading fails and is repeated, the file is emptied first.
  func begin(_ file: File) { state.withLock { $0.file = file } }

  /// No more bytes arrive.
  func end(_ outcome: Outcome) {
    let waiting = state.withLock { state in
      state.outcome = outcome
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: outcome) }
  }

  /// Waits for the complete file.
  var outcome: Outcome {
    get async {
      await withCheckedContinuation { continuation in
        let outcome = state.withLock { state in
          if state.outcome == nil { state.waiting.append(continuation) }
          return state.outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    }
  }

  /// Waits for the first byte of `range`, and reads at least this one. Throws ``StoreError/damaged`` if there is no such
  /// byte.
  /// - Parameter queue: where the file is read.
  func read(_ range: Range<Int64>, on queue: DispatchQueue) async throws(StoreError) -> [UInt8] {
    while true {
      let (file, outcome) = state.withLock { ($0.file, $0.outcome) }
      if let outcome {
        guard let complete = try outcome.get() else { throw .damaged }
        return try await complete.read(range, on: queue)
      }
      if let file {
        let bytes = try await file.read(range, on: queue)
        if !bytes.isEmpty { return bytes }
      }
      // No transport tells at once when bytes were written.
      do { try await Task.sleep(for: S3StoreLimits.arrivalPause) } catch {
        throw .unavailable("The request was cancelled.")
      }
    }
  }
}

extension File {
  /// Reads at most the bytes of `range`.
  func read(_ range: Range<Int64>, on queue: DispatchQueue) async throws(StoreError) -> [UInt8] {
    try await queue.perform { () throws(StoreError) in
      try StoreError.disk { () throws(SystemError) in try self.read(upTo: range.count, at: range.lowerBound) }
    }
  }
}
