import Dispatch
import Foundation
package import SnapshotStore
import Synchronization
import SystemIO

/// Finds out whether a store can write: by writing, on demand, and not more often than every few seconds.
///
/// A disk that does not answer holds up the probe and nobody else: callers are told so after a while.
final class WriteProbe: Sendable {
  private struct State {
    var fault: StorageFault?
    var endedAt: UInt64?
    var isRunning = false
    var waiting: [Int: CheckedContinuation<StorageFault?, Never>] = [:]
    var count = 0
  }

  private let lifetime: Duration
  private let patience: Duration
  private let write: @Sendable () throws(StoreError) -> Void
  private let queue = DispatchQueue(label: "file-store.write-probe")
  private let timer = DispatchQueue(label: "file-store.write-probe-timer")
  private let state = Mutex(State())

  /// - Parameters:
  ///   - lifetime: how long an answer counts.
  ///   - patience: how long a caller waits for one.
  ///   - write: writes something and removes it. Blocks.
  init(
    lifetime: Duration = .seconds(2), patience: Duration = .seconds(3),
    _ write: @escaping @Sendable () throws(StoreError) -> Void
  ) {
    self.lifetime = lifetime
    self.patience = patience
    self.write = write
  }

  /// Why nothing can be written; `nil` where it can.
  func fault() async -> StorageFault? {
    await withCheckedContinuation { continuation in
      let known = state.withLock { state -> (fault: StorageFault?, Void)? in
        if let endedAt = state.endedAt, Self.age(endedAt) < lifetime { return (state.fault, ()) }
        state.count += 1
        state.waiting[state.count] = continuation
        let number = state.count
        timer.asyncAfter(deadline: .now() + patience.seconds) { self.end(waitingOf: number) }
        if !state.isRunning {
          state.isRunning = true
          queue.async { self.run() }
        }
        return nil
      }
      if let known { continuation.resume(returning: known.fault) }
    }
  }

  private static func age(_ time: UInt64) -> Duration {
    .nanoseconds(Int64(clamping: SystemClock.monotonicNanoseconds - time))
  }

  private func run() {
    var fault: StorageFault?
    do throws(StoreError) { try write() } catch { fault = StorageFault(error) }
    let found = fault
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      (state.fault, state.endedAt, state.isRunning) = (found, SystemClock.monotonicNanoseconds, false)
      return state.waiting.values
    }
    for continuation in waiting { continuation.resume(returning: found) }
  }

  private func end(waitingOf number: Int) {
    state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: .notAnswering)
  }
}

extension StorageFault {
  fileprivate init(_ error: StoreError) {
    self =
      switch error {
      case .outOfSpace: .outOfSpace
      case .system(let failure) where failure.isReadOnly: .readOnly
      default: .failing
      }
  }
}

extension Duration {
  fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

extension FileBundleStore {
  /// Why no bundle can be taken in at the moment.
  package func fault() async -> StorageFault? { await writeProbe.fault() }

  /// Writes a file in `uploads/`, flushes it and removes it.
  static func makeWriteProbe(
    _ configuration: Configuration, _ layout: StorageLayout, _ faults: FaultInjection
  ) -> WriteProbe {
    WriteProbe { () throws(StoreError) in
      do throws(SystemError) {
        guard try faults.availableBytes(layout.root) >= configuration.reserve else {
          throw .full(layout.root)
        }
        let path = "\(layout.uploads)/probe"
        try Folder.removeIfPresent(path)
        let file = try File(path, .create(mode: 0o600))
        try file.write([1], at: 0)
        try file.synchronize()
        try Folder.remove(path)
      } catch {
        throw StoreError(error)
      }
    }
  }
}

extension SystemError {
  fileprivate static func full(_ path: String) -> SystemError {
    SystemError(operation: "statvfs", path: path, code: POSIXErrorCode.ENOSPC.rawValue)
  }
}
