public import DataSnapshots
public import SnapshotFormat

extension BetaSettings {
  /// Everything that there is to show at one time.
  public struct Overview: Sendable, Hashable {
    /// The state, and what is recorded and missing of each module.
    public var report: ModuleReport
    /// The snapshot that is replayed, where one is active.
    public var active: Manifest?
    /// What was done last or goes on now.
    public var activity: Activity?
    /// The snapshots that were sent or activated here, the latest first.
    public var recent: [RecentSnapshot]
    /// What is on its way to the server, the latest first.
    public var uploads: [Upload]
    /// The address of the server that snapshots are fetched from.
    public var server: String

    /// Whether something goes on that will change what is shown by itself.
    public var isBusy: Bool {
      activity?.phase == .running || uploads.contains { !$0.state.isFinal }
    }
  }

  /// Something that was asked for: what it is, and how far.
  public struct Activity: Sendable, Hashable {
    /// How far it is.
    public enum Phase: Sendable, Hashable, CaseIterable {
      /// It goes on.
      case running
      /// It is done.
      case done
      /// It did not work; the message says why.
      case failed
      /// It was stopped before its end.
      case cancelled
    }

    /// A few words.
    public var title: String
    /// How far it is.
    public var phase: Phase
    /// A sentence about what is happening, what came of it, or why it failed and what to do.
    public var message = ""
    /// The part that is done, 0 to 1, where it is known.
    public var fraction: Double?
    /// The snapshot that it is about, where it is known.
    public var snapshot: SnapshotID?
  }
}
