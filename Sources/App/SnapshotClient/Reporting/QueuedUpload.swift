public import Foundation
public import HTTPClient
public import SnapshotFormat

/// A snapshot of the state of one bundle in an ``UploadQueue``.
public struct QueuedUpload: Sendable, Hashable, Identifiable {
  /// The state of an upload.
  public enum State: Sendable, Hashable {
    /// The upload will start when the condition is met.
    case waiting(Wait)
    /// The upload is running.
    case uploading
    /// The server has stored the bundle. The local bundle is removed.
    case done
    /// The upload failed permanently: a retry would have the same result. The bundle is kept while there is room, so
    /// that the upload can be retried or removed manually.
    case failed(Failure)
    /// The upload was removed from the queue; only ``UploadQueue/updates()`` reports this state.
    case removed

    /// Whether the state changes only on request.
    public var isFinal: Bool {
      switch self {
      case .waiting, .uploading: false
      case .done, .failed, .removed: true
      }
    }
  }

  /// The condition for which an upload waits.
  public enum Wait: Sendable, Hashable {
    /// Other uploads are ahead in the queue.
    case turn
    /// The time of the next attempt, ``QueuedUpload/nextTry``.
    case time
    /// A network that ``NetworkPolicy`` permits.
    case network
    /// A client with a token that the server accepts: ``UploadQueue/use(_:)``.
    case token
  }

  /// A failed attempt.
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error.
    public var code: SnapshotClientError.Code
    /// The status of the server's response, if there was one.
    public var status: Int?
    /// One sentence for people: the failure and its remedy.
    public var description: String
    /// The time of the failure.
    public var date: Date
  }

  /// The snapshot's UUID, locally and on the server.
  public let id: SnapshotID
  /// The bug report to which it is attached.
  public let report: ReportID
  /// The bundle's size in bytes.
  public let size: Int64
  /// The digest of the bundle's bytes.
  public let sha256: ContentDigest
  /// The time when it was attached, with millisecond precision.
  public let attachedAt: Date
  /// The current state.
  public internal(set) var state: State
  /// The progress while the state is `uploading`: the number of bytes sent or, for a resumable upload
  /// (``ResumptionPolicy``), stored by the server. In the background, the bytes that the system has sent count too.
  public internal(set) var progress: TransportProgress?
  /// The number of consecutive failed attempts that transferred no additional bytes.
  public internal(set) var failures = 0
  /// The failure of the last attempt; `nil` if no attempt has failed, and after a success.
  public internal(set) var lastFailure: Failure?
  /// The earliest time of the next attempt, if the upload waits for it.
  public internal(set) var nextTry: Date?
  /// The time when the upload reached its final state.
  public internal(set) var endedAt: Date?
  /// Whether the bundle is still in the queue's folder. A failed upload without a bundle can't be retried.
  public internal(set) var hasBundle = true

  /// The number of bytes that the server has reported as stored; the next attempt sends the rest. 0 after a launch
  /// until the server has been asked, and for a bundle that is sent in one request.
  public internal(set) var kept: Int64 = 0

  /// The progress of the running attempt in bytes; 0 if none is running.
  public var sent: Int64 { progress?.completed ?? 0 }
}

/// An upload in a queue's folder that can't be read.
public struct UnreadableUpload: Sendable, Hashable {
  /// The upload's folder.
  public let folder: URL
  /// The reason, in a sentence.
  public let reason: String
}
