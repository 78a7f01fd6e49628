public import Foundation

extension SnapshotMode {
  /// How an identifier is recorded and replayed.
  public struct Policy: Sendable {
    /// What is kept when an identifier comes again.
    public enum Retention: Sendable, Hashable {
      /// The latest call alone.
      case latest
      /// The latest `limit` calls (at least one), which are replayed in the order in which they came. Past the end the
      /// last one is repeated. Replaying begins with the first one at each launch, each time that the state becomes
      /// ``SnapshotMode/State/replaying``, each time that a snapshot is activated, and with ``SnapshotMode/rewind()``.
      case history(limit: Int)
    }

    /// What takes the place of a recording that is not there, or can't be read.
    public enum Missing: Sendable {
      /// Live data: what `process` was given, or what its work answers.
      case passthrough
      /// The handler is called, on the thread that replays, with the event that ``Configuration/onEvent`` is told too.
      /// Where it returns, forms of `process` that may throw throw ``SnapshotMode/MissingRecording``; the one that
      /// may not lets live data pass.
      case fail(@Sendable (Event) -> Void)
      /// No bytes at all.
      case emptyData
    }

    /// What is kept when an identifier comes again.
    public var retention: Retention
    /// What takes the place of a recording that is not there.
    public var missing: Missing

    /// Describes a policy.
    public init(retention: Retention = .latest, missing: Missing = .passthrough) {
      self.retention = retention
      self.missing = missing
    }
  }

  /// Nothing is recorded under an identifier whose policy says that this must not be.
  public struct MissingRecording: Error, Sendable, CustomStringConvertible {
    /// What was told to ``Configuration/onEvent``.
    public let event: Event
    /// One line.
    public var description: String { event.description }
  }

  /// How much is kept. What is over a limit makes room, the oldest first; an event says so.
  public struct Limits: Sendable, Hashable {
    /// The most bytes of all recordings.
    public var totalBytes: Int64 = 512 << 20
    /// The most bytes of one recording or attachment; a larger one is not kept at all.
    public var recordingBytes = 64 << 20
    /// The most recordings, each call of a history counted.
    public var recordings = 20_000
    /// How long a recording is kept, in seconds.
    public var age: TimeInterval = 30 * 24 * 60 * 60
    /// The most attachments.
    public var attachments = 64

    /// The limits above.
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
