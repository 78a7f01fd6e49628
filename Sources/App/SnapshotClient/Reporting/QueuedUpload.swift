public import Foundation
public import HTTPTransport
public import SnapshotFormat

/// One bundle in an ``UploadQueue``, as it was when it was asked for.
public struct QueuedUpload: Sendable, Hashable, Identifiable {
  /// How far it is.
  public enum State: Sendable, Hashable {
    /// It will go out, when what it waits for is there.
    case waiting(Wait)
    /// It is going out.
    case uploading
    /// The server has it. Its bundle is no longer here.
    case done
    /// It is given up: trying again would change nothing. Its bundle stays, while there is room, to be tried again by
    /// hand or removed.
    case failed(Failure)
    /// It was removed from the queue; only ``UploadQueue/updates()`` tells so.
    case removed

    /// Whether nothing more happens to it unless somebody asks for it.
    public var isFinal: Bool {
      switch self {
      case .waiting, .uploading: false
      case .done, .failed, .removed: true
      }
    }
  }

  /// What an upload waits for.
  public enum Wait: Sendable, Hashable {
    /// For others that go first.
    case turn
    /// For the time of its next try, ``QueuedUpload/nextTry``.
    case time
    /// For a network that ``NetworkPolicy`` permits.
    case network
    /// For a token that the server takes: ``UploadQueue/use(_:)``.
    case token
  }

  /// A failed try.
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error.
    public var code: SnapshotClientError.Code
    /// The status of the server's answer, where one came.
    public var status: Int?
    /// One sentence for people: what went wrong, and what to do about it.
    public var description: String
    /// When it went wrong.
    public var date: Date
  }

  /// The snapshot's name, here and on the server.
  public let id: SnapshotID
  /// The bug report that it is for.
  public let report: ReportID
  /// The bundle's length in bytes.
  public let size: Int64
  /// The digest of the bundle's bytes.
  public let sha256: ContentDigest
  /// When it was attached, to the millisecond.
  public let attachedAt: Date
  /// How far it is.
  public internal(set) var state: State
  /// How much was sent or, of a bundle that the server can go on with (``ResumptionPolicy``), how much the server has;
  /// only while it is `uploading`.
  public internal(set) var progress: TransportProgress?
  /// How many tries failed in a row, the server having got no more by them than it had.
  public internal(set) var failures = 0
  /// Why the last try failed; `nil` where none did, and once it is `done`.
  public internal(set) var lastFailure: Failure?
  /// The earliest time of the next try, where it waits for time.
  public internal(set) var nextTry: Date?
  /// When it got its final state.
  public internal(set) var endedAt: Date?
  /// Whether the bundle is still in the queue's folder. Without it a failed upload can't be tried again.
  public internal(set) var hasBundle = true

  /// The bytes of it that the server has said to have: the next try sends the rest. 0 after a launch, until the server
  /// has been asked, and for a bundle that goes out in one request.
  public internal(set) var kept: Int64 = 0

  /// How far the running try is, in bytes; 0 where none runs.
  public var sent: Int64 { progress?.completed ?? 0 }
}
