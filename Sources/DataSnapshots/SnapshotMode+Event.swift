extension SnapshotMode {
  /// Something that went wrong while the app went on.
  public struct Event: Sendable, Hashable, CustomStringConvertible {
    /// What it was about.
    public enum Kind: String, Sendable, CaseIterable {
      /// Data was not kept: its identifier is too long, or too much is waiting for the disk.
      case recordingRefused
      /// Data could not be written.
      case recordingFailed
      /// Nothing is recorded under an identifier; live data passed.
      case recordingMissing
      /// What is recorded can't be read, or is not what was recorded; live data passed.
      case replayFailed
      /// The state could not be kept for the next launch.
      case stateNotSaved
      /// The state or the active snapshot of the last launch can't be read; the state is `disabled`.
      case stateNotRestored
      /// What an interrupted launch left behind, or a stray file among the recordings, is still there.
      case leftover
    }

    /// What it was about.
    public let kind: Kind
    /// The identifier that was passed, where one was.
    public let identifier: String?
    /// What was wrong, for people.
    public let reason: String

    init(_ kind: Kind, identifier: String? = nil, _ reason: String) {
      self.kind = kind
      self.identifier = identifier
      self.reason = reason
    }

    /// One line.
    public var description: String {
      identifier.map { "\(kind) ‘\($0.prefix(200))’: \(reason)" } ?? "\(kind): \(reason)"
    }
  }
}

/// Why data could not be replayed.
enum ReplayProblem: Error {
  case missing
  case unreadable(String)

  func event(_ identifier: String) -> SnapshotMode.Event {
    switch self {
    case .missing:
      .init(.recordingMissing, identifier: identifier, "nothing is recorded under this identifier")
    case .unreadable(let reason): .init(.replayFailed, identifier: identifier, reason)
    }
  }
}
