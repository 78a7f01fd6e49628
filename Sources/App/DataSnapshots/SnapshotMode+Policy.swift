public import Foundation
import Redaction

extension SnapshotMode {
  /// How an identifier is recorded and replayed.
  public struct Policy: Sendable {
    /// How many calls of an identifier are kept.
    public enum Retention: Sendable, Hashable {
      /// Only the latest call.
      case latest
      /// The latest `limit` calls, at least one. They are replayed in the order in which they returned, and
      /// ``Policy/afterLast`` determines what follows. Replaying starts with the first call at each launch, each time the state
      /// becomes ``SnapshotMode/State/replaying``, each time a snapshot is activated, and after
      /// ``SnapshotMode/rewind()``.
      case history(limit: Int)

      /// Whether each call is kept beside the former ones.
      var keepsHistory: Bool {
        switch self {
        case .latest: false
        case .history: true
        }
      }
    }

    /// The result of a replayed call whose recording is missing or can't be read.
    public enum Missing: Sendable {
      /// Live data: the argument of `process`, or the result of its work.
      case passthrough
      /// Calls the handler on the replaying thread, with the event that ``Configuration/onEvent`` also receives. After
      /// the handler returns, the throwing forms of `process` throw ``SnapshotMode/MissingRecording``. The form that
      /// doesn't throw returns live data.
      case fail(@Sendable (Event) -> Void)
      /// Empty data.
      case emptyData
    }

    /// The result of a replayed call after the last recorded one of its identifier. Applies to histories and HTTP
    /// exchanges. If only the latest call was kept, its recording is repeated.
    public enum AfterLast: String, Sendable, CaseIterable {
      /// The last recording again.
      case `repeat`
      /// Sends ``Event/Kind/recordingMissing``, to the handler of ``Missing/fail(_:)`` too. The throwing forms of
      /// `process` then throw ``SnapshotMode/MissingRecording``. The form that doesn't throw returns live data.
      case fail
      /// Live data.
      case live
    }

    /// How many calls are kept.
    public var retention: Retention
    /// The result if a recording is missing or can't be read.
    public var missing: Missing
    /// The result after the last recorded call.
    public var afterLast: AfterLast

    /// Creates a policy.
    public init(
      retention: Retention = .latest, missing: Missing = .passthrough, afterLast: AfterLast = .repeat
    ) {
      self.retention = retention
      self.missing = missing
      self.afterLast = afterLast
    }
  }

  /// The error thrown if an identifier whose policy is ``Policy/Missing/fail(_:)`` has no usable recording, or one whose
  /// policy is ``Policy/AfterLast/fail`` has no further one.
  public struct MissingRecording: Error, Sendable, CustomStringConvertible {
    /// The event that was sent to ``Configuration/onEvent``.
    public let event: Event
    /// The event's description, on one line.
    public var description: String { event.description }
  }

  /// How much data is kept. When a limit is exceeded, the oldest recordings are removed and an event is sent.
  public struct Limits: Sendable, Hashable {
    /// The maximum size of all recordings, in bytes.
    public var totalBytes: Int64 = 512 << 20
    /// The maximum size of one recording or attachment, in bytes. Larger data is not recorded.
    public var recordingBytes = 64 << 20
    /// The maximum number of recordings. Each call of a history counts.
    public var recordings = 20_000
    /// The maximum age of a recording, in seconds. While the device's clock may be wrong, no recording is removed for it.
    public var age: TimeInterval = 30 * 24 * 60 * 60
    /// The maximum number of attachments.
    public var attachments = 64

    /// Creates limits with the default values.
    public init() {}
  }
}

/// The policies of all identifiers.
struct Policies: Sendable {
  private let standard: SnapshotMode.Policy
  private let exact: [String: SnapshotMode.Policy]
  private let patterns: [(pattern: IdentifierPattern, policy: SnapshotMode.Policy)]

  init(_ configuration: SnapshotMode.Configuration) {
    standard = configuration.policy
    exact = configuration.policies.filter { !$0.key.hasSuffix("*") }
    patterns = configuration.policies.filter { $0.key.hasSuffix("*") }
      .map { (IdentifierPattern($0.key), $0.value) }.sorted { $0.pattern.weight > $1.pattern.weight }
  }

  subscript(identifier: String) -> SnapshotMode.Policy {
    exact[identifier] ?? patterns.first { $0.pattern.matches(identifier) }?.policy ?? standard
  }
}
