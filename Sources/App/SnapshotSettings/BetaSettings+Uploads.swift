public import Foundation
public import SnapshotFormat

extension BetaSettings {
  /// The operations that the settings need from the component that sends snapshots to the server.
  public struct Uploads: Sendable {
    /// Makes a snapshot of the recordings for a report and schedules its upload. Returns as soon as the snapshot's UUID
    /// is known.
    public var attach: @Sendable (BugReport) async throws -> SnapshotID
    /// Returns the pending and recent uploads, newest first.
    public var list: @Sendable () async -> [Upload]
    /// Retries an upload immediately.
    public var retry: @Sendable (SnapshotID) async throws -> Void
    /// Cancels an upload, and removes it from the device.
    public var remove: @Sendable (SnapshotID) async throws -> Void

    /// Creates uploads with these functions.
    public init(
      attach: @escaping @Sendable (BugReport) async throws -> SnapshotID,
      list: @escaping @Sendable () async -> [Upload],
      retry: @escaping @Sendable (SnapshotID) async throws -> Void,
      remove: @escaping @Sendable (SnapshotID) async throws -> Void
    ) {
      self.attach = attach
      self.list = list
      self.retry = retry
      self.remove = remove
    }
  }

  /// An upload of a snapshot to the server.
  public struct Upload: Sendable, Hashable, Identifiable {
    /// The progress of an upload.
    public enum State: Sendable, Hashable {
      /// Not started, or to be retried. The text states the reason.
      case waiting(String)
      /// In progress. The fraction, 0 to 1, is `nil` if it is unknown.
      case sending(Double?)
      /// The server has stored the snapshot.
      case done
      /// The upload failed permanently. The text states the reason.
      case failed(String)

      /// Whether the state will not change any more without an action of the tester.
      public var isFinal: Bool {
        switch self {
        case .waiting, .sending: false
        case .done, .failed: true
        }
      }
    }

    /// The snapshot's UUID.
    public var id: SnapshotID
    /// The bug report to which it belongs.
    public var report: ReportID
    /// The size in bytes.
    public var size: Int64
    /// The time when the snapshot was attached.
    public var attachedAt: Date
    /// The current state.
    public var state: State
    /// Whether the upload can be retried immediately.
    public var canRetry: Bool

    /// Creates a description of an upload.
    public init(
      id: SnapshotID, report: ReportID, size: Int64, attachedAt: Date, state: State, canRetry: Bool
    ) {
      self.id = id
      self.report = report
      self.size = size
      self.attachedAt = attachedAt
      self.state = state
      self.canRetry = canRetry
    }
  }
}
