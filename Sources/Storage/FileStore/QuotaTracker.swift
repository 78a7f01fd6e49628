import SnapshotStore
import SystemIO

/// Counts the bytes of stored bundles and of arriving uploads, and enforces the quota.
final class QuotaTracker: Sendable {
  private struct State {
    var kept: StoreUsage
    var arriving: Int64 = 0
    var quota: Int64?
  }

  /// The most bytes that bundles and arriving uploads may have together; `nil` means no limit. A lower quota than what
  /// is stored refuses further bytes, and removes nothing.
  var quota: Int64? {
    get { state.withLock { $0.quota } }
    set { state.withLock { $0.quota = newValue } }
  }
  private let state: Lock<State>

  init(_ kept: StoreUsage = StoreUsage(), quota: Int64?) {
    state = Lock(State(kept: kept, quota: quota))
  }

  /// The stored bundles.
  var kept: StoreUsage { state.withLock { $0.kept } }

  /// The number of bytes of arriving uploads.
  var arriving: Int64 { state.withLock { $0.arriving } }

  /// Throws ``StoreError/quotaExceeded(limit:)`` if `count` more bytes would exceed the quota.
  func requireRoom(for count: Int64) throws(StoreError) {
    try state.withLock { state throws(StoreError) in try require(count, in: state) }
  }

  /// Adds bundles that were found in the storage.
  func add(_ usage: StoreUsage) {
    state.withLock { state in
      state.kept.bundles += usage.bundles
      state.kept.bytes += usage.bytes
    }
  }

  /// Subtracts a bundle of `size` bytes that was removed.
  func forget(_ size: Int64) {
    state.withLock { state in
      state.kept.bundles -= 1
      state.kept.bytes -= size
    }
  }

  private func require(_ count: Int64, in state: State) throws(StoreError) {
    guard let quota = state.quota else { return }
    let (sum, overflow) = (state.kept.bytes + state.arriving).addingReportingOverflow(count)
    guard !overflow, sum <= quota else { throw .quotaExceeded(limit: quota) }
  }

  /// The space that one upload reserves, until it is kept, released or deinitialized.
  final class Arrival: Sendable {
    private let quotaTracker: QuotaTracker
    private let size = Lock<Int64>(0)

    init(in quotaTracker: QuotaTracker) { self.quotaTracker = quotaTracker }

    deinit { release() }

    /// Reserves `count` more bytes; throws ``StoreError/quotaExceeded(limit:)``.
    func grow(by count: Int64) throws(StoreError) {
      try size.withLock { size throws(StoreError) in
        try quotaTracker.state.withLock { state throws(StoreError) in
          try quotaTracker.require(count, in: state)
          state.arriving += count
        }
        size += count
      }
    }

    /// Reserves `count` bytes that are stored already, without checking the quota.
    func restore(_ count: Int64) {
      size.withLock { size in
        quotaTracker.state.withLock { $0.arriving += count }
        size += count
      }
    }

    /// Releases `count` bytes.
    func shrink(by count: Int64) { restore(-count) }

    /// Releases all but `count` bytes.
    func keepOnly(_ count: Int64) {
      size.withLock { size in
        let excess = max(size - count, 0)
        quotaTracker.state.withLock { $0.arriving -= excess }
        size -= excess
      }
    }

    /// Counts the reserved bytes as a stored bundle.
    func keep() {
      end { kept, size in
        kept.bundles += 1
        kept.bytes += size
      }
    }

    /// Releases all reserved bytes.
    func release() { end { _, _ in } }

    private func end(_ change: (inout StoreUsage, Int64) -> Void) {
      size.withLock { size in
        quotaTracker.state.withLock { state in
          state.arriving -= size
          change(&state.kept, size)
        }
        size = 0
      }
    }
  }
}
