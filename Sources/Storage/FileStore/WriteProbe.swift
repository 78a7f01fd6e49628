import Dispatch
import Foundation
import SnapshotStore
import SystemIO

/// Tests whether a store can write by writing a file, on demand and at most once every few seconds.
///
/// A disk that does not respond blocks only a thread that flushes: callers get ``StorageFault/notAnswering`` after a
/// while.
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
  private let inspect: @Sendable () throws(SystemError) -> StorageFault?
  private let write: @Sendable () throws(StoreError) -> Void
  private let queue: DispatchQueue
  private let state = Lock(State())

  /// - Parameters:
  ///   - lifetime: how long a result is reused.
  ///   - patience: how long a caller waits for a result.
  ///   - inspect: returns what is wrong with the storage, so that nothing may be written.
  ///   - queue: inspects and writes.
  ///   - write: writes something and removes it. Blocks.
  init(
    on queue: DispatchQueue,
    lifetime: Duration = .seconds(2), patience: Duration = .seconds(3),
    inspect: @escaping @Sendable () throws(SystemError) -> StorageFault? = { nil },
    _ write: @escaping @Sendable () throws(StoreError) -> Void
  ) {
    self.queue = queue
    self.lifetime = lifetime
    self.patience = patience
    self.inspect = inspect
    self.write = write
  }

  /// The reason why nothing can be written; `nil` if writing works.
  func fault() async -> StorageFault? {
    await withCheckedContinuation { continuation in
      let known = state.withLock { state -> (fault: StorageFault?, Void)? in
        if let endedAt = state.endedAt, Self.age(endedAt) < lifetime { return (state.fault, ()) }
        state.count += 1
        state.waiting[state.count] = continuation
        let number = state.count
        DispatchQueue.global().asyncAfter(deadline: .now() + patience.seconds) { self.end(waitingOf: number) }
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
    let found = find()
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      (state.fault, state.endedAt, state.isRunning) = (found, SystemClock.monotonicNanoseconds, false)
      return state.waiting.values
    }
    for continuation in waiting { continuation.resume(returning: found) }
  }

  private func find() -> StorageFault? {
    do {
      if let fault = try inspect() { return fault }
    } catch {
      return StorageFault(StoreError(error))
    }
    do { try write() } catch { return StorageFault(error) }
    return nil
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
      case .outOfInodes: .outOfInodes
      case .system(let failure) where failure.isReadOnly: .readOnly
      default: .failing
      }
  }
}

extension Duration {
  fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

extension WriteProbe {
  /// The name of the file in `uploads/`.
  static let fileName = "probe"

  /// Creates a probe that looks for flaws of the storage folder, and writes a file in `uploads/`, flushes it and removes
  /// it.
  convenience init(of folder: StorageFolder, on queue: DispatchQueue) {
    let watch = FlawWatch(folder.layout, logger: folder.logger)
    self.init(on: queue, inspect: { () throws(SystemError) in try watch.fault() }) { () throws(StoreError) in
      try StoreError.disk { () throws(SystemError) in
        guard try folder.faults.availableBytes(folder.layout.root) >= folder.reserve else {
          throw .full(folder.layout.root)
        }
        let path = "\(folder.layout.uploads)/\(Self.fileName)"
        try Folder.removeIfPresent(path)
        let file = try File(path, .create(mode: 0o600))
        try file.write([1], at: 0)
        try file.synchronize()
        try Folder.remove(path)
      }
    }
  }
}

extension SystemError {
  fileprivate static func full(_ path: String) -> SystemError {
    SystemError(operation: "statvfs", path: path, code: POSIXErrorCode.ENOSPC.rawValue)
  }
}
