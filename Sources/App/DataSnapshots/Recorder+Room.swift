import Foundation
import SnapshotFormat
import Synchronization
import SystemIO

// All of this is done on the recorder's queue.
extension Recorder {
  /// Nothing is written until the disk has room again.
  struct Pause {
    /// The free bytes from which on it is tried again.
    var needed: Int64
    /// How much was not kept meanwhile.
    var passedOver = 0
  }

  /// At launch: what is too old, or too much for limits that have changed, leaves.
  func start() {
    do {
      try redactAgain()
      try removeOutdated()
      try makeRoom(for: 0, as: nil)
    } catch {
      // What can't be read or written now is told when something is recorded or replayed.
    }
  }

  // MARK: - Limits

  /// Removes the oldest recordings until one of `size` bytes has room, which may take the place of the one called `name`.
  func makeRoom(for size: Int64, as name: RecordingName?) throws(SystemError) {
    try removeOutdated()
    let limits = configuration.limits
    let added = name == nil ? 0 : 1
    try removeOldest("there was no room for more") { recorded in
      let replaced = name.map { recorded.size(of: $0) } ?? 0
      let isReplacing = name.map { recorded.calls(of: $0).contains($0) } ?? false
      return recorded.bytes - replaced + size > limits.totalBytes
        || recorded.count + (isReplacing ? 0 : added) > max(limits.recordings, 1)
    }
  }

  /// Removes what is older than is allowed.
  func removeOutdated() throws(SystemError) {
    let earliest = configuration.clock().addingTimeInterval(-configuration.limits.age)
    try removeOldest("they were too old") { recorded in
      recorded.oldest.map { $0.recordedAt < earliest } ?? false
    }
  }

  private func removeOldest(
    _ reason: String, while isTooMuch: (inout RecordingIndex) -> Bool
  ) throws(SystemError) {
    var count = 0
    defer {
      if count > 0 { tell(.recordingsRemoved, "the \(count) oldest recordings were removed: \(reason)") }
    }
    while let oldest = try withIndex({ isTooMuch(&$0) ? $0.oldest : nil }) {
      try remove(oldest.name)
      count += 1
    }
  }

  // MARK: - A full disk

  var isPaused: Bool { memory.withLock { $0.pause != nil } }

  /// Whether there is still no room for `item`.
  func isPassedOver(_ item: Item) -> Bool {
    guard let needed = memory.withLock({ $0.pause?.needed }) else { return false }
    do {
      guard try Folder.availableBytes(storage.folder) < needed else { return false }
    } catch {
      return false
    }
    memory.withLock { $0.pause?.passedOver += 1 }
    return true
  }

  /// Stops writing; the first time says so.
  func pause(_ item: Item, _ error: SystemError) {
    // As much as what failed, so that recording does not go on and stop with every small item that still has room.
    let needed = Int64(item.data.count) + 64 << 10
    let isNew = memory.withLock { memory in
      let former = memory.pause
      memory.pause = Pause(
        needed: max(needed, former?.needed ?? 0), passedOver: (former?.passedOver ?? 0) + 1)
      return former == nil
    }
    if isNew { tell(.recordingPaused, item.identifier, "nothing is kept until there is room: \(error)") }
  }

  /// After a write that succeeded.
  func resume() {
    let pause = memory.withLock { memory in memory.pause.take() }
    if let pause {
      tell(.recordingResumed, "there is room again; \(pause.passedOver) were not kept meanwhile")
    }
  }
}
