public import DataSnapshots
public import SnapshotFormat

extension BetaSettings {
  /// The current state of everything that the settings show.
  public struct Overview: Sendable, Hashable {
    /// The state, and the recorded and missing files of each module.
    public var report: ModuleReport
    /// The run before this one, if it did not end in good order and its recordings are kept.
    public var crashedRun: SnapshotMode.PreviousRun?
    /// The active snapshot, if there is one.
    public var active: Manifest?
    /// The running operation, or the last one.
    public var activity: Activity?
    /// The snapshots that were sent or activated on this device, newest first.
    public var recent: [RecentSnapshot]
    /// The pending and recent uploads, newest first.
    public var uploads: [Upload]
    /// The address of the server from which snapshots are fetched.
    public var server: String
    /// To whom snapshots are sealed; `nil` if they are not.
    public var sealing: SnapshotMode.Sealing?

    /// Whether an operation or upload is in progress, so that the overview will change.
    public var isBusy: Bool {
      activity?.phase == .running || uploads.contains { !$0.state.isFinal }
    }
  }

  /// An operation that the tester requested, and its progress.
  public struct Activity: Sendable, Hashable {
    /// The phase of an operation.
    public enum Phase: Sendable, Hashable, CaseIterable {
      /// It is running.
      case running
      /// It has completed.
      case done
      /// It failed; the message states the reason.
      case failed
      /// It was cancelled.
      case cancelled
    }

    /// A short title.
    public var title: String
    /// The current phase.
    public var phase: Phase
    /// A sentence about the current step, the result, or the reason of a failure and its remedy.
    public var message = ""
    /// The completed fraction, 0 to 1; `nil` if it is unknown.
    public var fraction: Double?
    /// The snapshot concerned; `nil` if it is not known yet.
    public var snapshot: SnapshotID?
  }
}
