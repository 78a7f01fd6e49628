import Dispatch
import SnapshotStore
import Synchronization
import SystemIO

/// A file into which an object is being read from the object store, and which others read meanwhile. Thread-safe.
final class ArrivingFile: Sendable {
  /// `nil` if the object store does not have the object.
  typealias Outcome = Result<File?, StoreError>

  private struct State {
    var file: File?
    /// The number of bytes that can be read. It falls when the object is read anew after a failure.
    var length: Int64 = 0
    var outcome: Outcome?
    /// The number of changes of this state.
    var changes = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Readers can read the first `length` bytes of `file` now.
  func move(to length: Int64, of file: File) {
    change { state in
      state.file = file
      state.length = length
    }
  }

  /// No more bytes arrive.
  func end(_ outcome: Outcome) { change { $0.outcome = outcome } }

  /// Waits for the complete file.
  var outcome: Outcome {
    get async {
      while true {
        let (outcome, changes) = state.withLock { ($0.outcome, $0.changes) }
        if let outcome { return outcome }
        await waitForChange(after: changes)
      }
    }
  }

  /// Waits for the first byte of `range`, and reads at least this one. Throws ``StoreError/damaged`` if there is no such
  /// byte.
  /// - Parameter queue: where the file is read.
  func read(_ range: Range<Int64>, on queue: DispatchQueue) async throws(StoreError) -> [UInt8] {
    while true {
      let (file, length, outcome, changes) = state.withLock { ($0.file, $0.length, $0.outcome, $0.changes) }
      if let outcome {
        guard let complete = try outcome.get() else { throw .damaged }
        return try await complete.read(range, on: queue)
      }
      if let file, range.lowerBound < length {
        let bytes = try await file.read(range, on: queue)
        // Without bytes, the object has just begun to be read anew.
        if !bytes.isEmpty { return bytes }
      }
      await waitForChange(after: changes)
    }
  }

  private func change(_ body: (inout State) -> Void) {
    let waiting = state.withLock { state in
      body(&state)
      state.changes += 1
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  private func waitForChange(after changes: Int) async {
    await withCheckedContinuation { continuation in
      let hasChanged = state.withLock { state in
        guard state.changes == changes else { return true }
        state.waiting.append(continuation)
        return false
      }
      if hasChanged { continuation.resume() }
    }
  }
}

extension File {
  /// Reads at most the bytes of `range`.
  func read(_ range: Range<Int64>, on queue: DispatchQueue) async throws(StoreError) -> [UInt8] {
    try await queue.perform { () throws(StoreError) in
      do throws(SystemError) { return try self.read(upTo: range.count, at: range.lowerBound) } catch {
        throw StoreError(error)
      }
    }
  }
}
