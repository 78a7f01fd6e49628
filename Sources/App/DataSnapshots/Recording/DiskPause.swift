import SystemIO

/// Stops recording while the disk is full. Safe to use from any thread.
final class DiskPause: Sendable {
  private struct Pause {
    /// The number of free bytes from which writing is tried again.
    var needed: Int64
    /// The number of items dropped since the pause began.
    var passedOver = 0
  }

  private let folder: String
  private let pause = Lock<Pause?>(nil)

  /// Creates a pause for the disk of `folder`, which is not active.
  init(_ folder: String) { self.folder = folder }

  var isActive: Bool { pause.withLock { $0 != nil } }

  /// Whether the next item is dropped because the disk is still full.
  func passesOver() -> Bool {
    guard let needed = pause.withLock({ $0?.needed }) else { return false }
    do {
      guard try Folder.availableBytes(folder) < needed else { return false }
    } catch {
      return false
    }
    pause.withLock { $0?.passedOver += 1 }
    return true
  }

  /// Begins a pause because an item of `bytes` did not fit.
  /// - Returns: whether there was none.
  func begin(needing bytes: Int) -> Bool {
    // The size of the failed item, so that small items that still fit don't end the pause, and the next large one
    // begins it again.
    let needed = Int64(bytes) + 64 << 10
    return pause.withLock { pause in
      let former = pause
      pause = Pause(needed: max(needed, former?.needed ?? 0), passedOver: (former?.passedOver ?? 0) + 1)
      return former == nil
    }
  }

  /// Ends the pause after a successful write.
  /// - Returns: the number of dropped items; `nil` if there was no pause.
  func end() -> Int? { pause.withLock { $0.take()?.passedOver } }
}
