public import Foundation
public import SnapshotFormat
public import SystemIO

extension SnapshotMode {
  /// The recordings of which a snapshot is made: everything in the folder now, or everything that was in it when the run
  /// before this one ended (``previousRun``).
  public typealias Run = BugReport.Run

  /// The last run that recorded something before this one.
  ///
  /// After a crash, it has the data that led to the crash, even if this run has recorded the same identifiers again.
  public struct PreviousRun: Sendable, Hashable {
    /// Whether the run ended in good order: after ``SnapshotMode/close()``, or while the app was in the background. A run
    /// that crashed, or was killed in the foreground, did not.
    public let endedInGoodOrder: Bool
    /// The time of the first recording of the run.
    public let began: Date
    /// The end of the run or, if it did not end in good order, the time of its last recording.
    public let ended: Date
    /// The number of recordings. Each call of a history counts.
    public let recordings: Int
    /// The size of the recordings in bytes.
    public let bytes: Int64
  }

  /// The previous run, if its recordings are kept: until ``discardPreviousRun()`` or ``clear()``, until they exceed
  /// ``Limits``, or until a later run becomes the previous one. `nil` if there is none.
  ///
  /// The recordings are kept as hard links, which use space on the disk only for data that this run has replaced.
  /// Waits until the launch has set them aside.
  public var previousRun: PreviousRun? {
    get async { await recorder.queue.run { [recorder] in recorder.previousRun } }
  }

  /// Removes what is kept of the previous run. Does nothing if there is none.
  public func discardPreviousRun() async throws(SystemError) {
    try await recorder.queue.run { [recorder] () throws(SystemError) in try recorder.discardPreviousRun() }
  }
}
