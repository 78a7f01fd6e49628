import Foundation
import SnapshotFormat

/// The end of a run. After a run that did not end in good order, ``SnapshotMode/previousRun`` says so.
extension SnapshotMode {
  /// Ends the run in good order: waits until everything is on the disk, and lets another instance use the folder. From
  /// then on, this instance is disabled.
  public func close() async {
    guard shut() else { return }
    await recorder.queue.run { [recorder, claim] in Self.finish(recorder, claim) }
  }

  /// The same, blocking the calling thread. Use it at the end of a process, when nothing can await ``close()``.
  @available(*, noasync, message: "Await close()")
  public func closeSynchronously() {
    guard shut() else { return }
    recorder.queue.sync { Self.finish(recorder, claim) }
  }

  /// Disables this instance. Returns whether it has a folder.
  private func shut() -> Bool {
    current.change { $0.isShut = true }
    return !current.read { $0.isFixed }
  }

  private static func finish(_ recorder: Recorder, _ claim: FolderClaim) {
    guard claim.isHeld else { return }
    recorder.recordEnd(isInGoodOrder: true)
    claim.release()
  }

  /// Records that the app is in the background, where the system may end it at any time: if it does, the run has ended in
  /// good order. On systems with UIKit, this method is called automatically.
  public func didEnterBackground() { recordEnd(isInGoodOrder: true) }

  /// Records that the app is in the foreground again: if the process ends now, the run has not ended in good order. On
  /// systems with UIKit, this method is called automatically.
  public func willEnterForeground() { recordEnd(isInGoodOrder: false) }

  private func recordEnd(isInGoodOrder: Bool) {
    guard current.read({ $0.storesState }) else { return }
    recorder.queue.async { [recorder] in recorder.recordEnd(isInGoodOrder: isInGoodOrder) }
  }
}

/// Tells a ``SnapshotMode`` of the app's changes between foreground and background, as UIKit and AppKit post them.
final class BackgroundObserver: Sendable {
  enum Change { case toBackground, toForeground, end }

  private static let changes: [(name: String, change: Change)] = [
    ("UIApplicationDidEnterBackgroundNotification", .toBackground),
    ("UIApplicationWillEnterForegroundNotification", .toForeground),
    ("UIApplicationWillTerminateNotification", .end), ("NSApplicationWillTerminateNotification", .end),
  ]

  /// Only the deinitializer uses them.
  private nonisolated(unsafe) let tokens: [any NSObjectProtocol]

  /// Calls `body` with each change, on the thread that posts it.
  init(_ body: @escaping @Sendable (Change) -> Void) {
    unsafe tokens = Self.changes.map { name, change in
      NotificationCenter.default.addObserver(forName: Notification.Name(name), object: nil, queue: nil) { _ in
        body(change)
      }
    }
  }

  deinit { for token in unsafe tokens { NotificationCenter.default.removeObserver(token) } }
}
