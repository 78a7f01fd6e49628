public import Foundation
public import SnapshotFormat

extension BetaSettings {
  /// What the settings need of whatever sends snapshots to the server.
  public struct Uploads: Sendable {
    /// Makes a snapshot of what is recorded, for a report, and sees to it that it gets to the server; answers as soon
    /// as its name is known.
    public var attach: @Sendable (ReportID) async throws -> SnapshotID
    /// What is on its way, and what became of the last ones, the latest first.
    public var list: @Sendable () async -> [Upload]
    /// Tries one again at once.
    public var retry: @Sendable (SnapshotID) async throws -> Void
    /// Gives one up, and removes it from the device.
    public var remove: @Sendable (SnapshotID) async throws -> Void

    /// Uploads by these functions.
    public init(
      attach: @escaping @Sendable (ReportID) async throws -> SnapshotID,
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

  /// A snapshot on its way to the server.
  public struct Upload: Sendable, Hashable, Identifiable {
    /// How far it is.
    public enum State: Sendable, Hashable {
      /// Not yet begun, or to be tried again: for what it waits, in words.
      case waiting(String)
      /// It is being sent; the part that is sent, 0 to 1, where it is known.
      case sending(Double?)
      /// The server has it.
      case done
      /// The server will not have it: why, in words.
      case failed(String)

      /// Whether it will change no more by itself.
      public var isFinal: Bool {
        switch self {
        case .waiting, .sending: false
        case .done, .failed: true
        }
      }
    }

    /// The snapshot.
    public var id: SnapshotID
    /// The bug report that it is for.
    public var report: ReportID
    /// Its length in bytes.
    public var size: Int64
    /// When it was attached.
    public var attachedAt: Date
    /// How far it is.
    public var state: State
    /// Whether it makes sense to try again at once.
    public var canRetry: Bool

    /// Describes an upload.
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
