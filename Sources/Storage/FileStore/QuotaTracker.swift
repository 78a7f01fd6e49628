import SnapshotStore
import Synchronization

/// How much room is taken: by what is kept, and by what is on its way in.
final class QuotaTracker: Sendable {
  private struct State {
    var kept: StoreUsage
    var arriving: Int64 = 0
  }

  /// The most bytes that may be kept and on their way together; `nil` is without a limit.
  private let quota: Int64?
  private let state: Mutex<State>

  init(_ kept: StoreUsage, quota: Int64?) {
    self.quota = quota
    state = Mutex(State(kept: kept))
  }

  /// What is kept.
  var kept: StoreUsage { state.withLock { $0.kept } }

  /// How many bytes are on their way.
  var arriving: Int64 { state.withLock { $0.arriving } }

  /// Throws where so many bytes more would be too many.
  func requireRoom(for count: Int64) throws(StoreError) {
    try state.withLock { state throws(StoreError) in try require(count, in: state) }
  }

  /// A bundle of `size` bytes is no longer kept.
  func forget(_ size: Int64) {
    state.withLock { state in
      state.kept.bundles -= 1
      state.kept.bytes -= size
    }
  }

  private func require(_ count: Int64, in state: State) throws(StoreError) {
    guard let quota else { return }
    let (sum, overflow) = (state.kept.bytes + state.arriving).addingReportingOverflow(count)
    guard !overflow, sum <= quota else { throw .quotaExceeded(limit: quota) }
  }

  /// The room that one upload takes, until it is let go.
  final class Arrival: Sendable {
    private let quotaTracker: QuotaTracker
    private let size = Mutex<Int64>(0)

    init(in quotaTracker: QuotaTracker) { self.quotaTracker = quotaTracker }

    deinit { release() }

    /// Takes room for `count` more bytes, or throws.
    func grow(by count: Int64) throws(StoreError) {
      try size.withLock { size throws(StoreError) in
        try quotaTracker.state.withLock { state throws(StoreError) in
          try quotaTracker.require(count, in: state)
          state.arriving += count
        }
        size += count
      }
    }

    /// Takes the room of `count` bytes that are there already.
    func restore(_ count: Int64) {
      size.withLock { size in
        quotaTracker.state.withLock { $0.arriving += count }
        size += count
      }
    }

    /// Gives the room of `count` bytes back.
    func shrink(by count: Int64) { restore(-count) }

    /// Gives the room back of all but `count` bytes.
    func keepOnly(_ count: Int64) {
      size.withLock { size in
        let excess = max(size - count, 0)
        quotaTracker.state.withLock { $0.arriving -= excess }
        size -= excess
      }
    }

    /// What arrived is kept.
    func keep() {
      end { kept, size in
        kept.bundles += 1
        kept.bytes += size
      }
    }

    /// Gives the room back.
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
