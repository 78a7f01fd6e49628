extension SnapshotMode {
  /// Something that went wrong while the app went on.
  public struct Event: Sendable, Hashable, CustomStringConvertible {
    /// What it was about.
    public enum Kind: String, Sendable, CaseIterable {
      /// Data was not kept: it or its identifier is over a limit, or too much is waiting for the disk.
      case recordingRefused
      /// Data was not kept because a rule of redaction could not be applied to it.
      case redactionFailed
      /// The disk is full: nothing is kept until there is room. Told once.
      case recordingPaused
      /// There is room again, after a pause.
      case recordingResumed
      /// The oldest recordings were removed, to stay within ``SnapshotMode/Limits``.
      case recordingsRemoved
      /// Data could not be written.
      case recordingFailed
      /// Nothing is recorded under an identifier; live data passed, or what the policy says.
      case recordingMissing
      /// What is recorded can't be read, or is not what was recorded; live data passed, or what the policy says.
      case replayFailed
      /// The state could not be kept for the next launch.
      case stateNotSaved
      /// The launch was to be forced into something that is no state.
      case stateNotForced
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
    /// Of ``Kind/recordingMissing``: up to three recorded identifiers that differ in a few characters only.
    public let nearest: [String]

    init(_ kind: Kind, identifier: String? = nil, _ reason: String, nearest: [String] = []) {
      self.nearest = nearest
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

  /// What is told; `nearest` is asked for where nothing was found.
  func event(_ identifier: String, nearest: () -> [String]) -> SnapshotMode.Event {
    switch self {
    case .missing:
      let nearest = nearest()
      let hint =
        nearest.isEmpty ? "" : "; is it \(nearest.map { "‘\($0.prefix(200))’" }.joined(separator: " or "))?"
      return .init(
        .recordingMissing, identifier: identifier, "nothing is recorded under this identifier\(hint)",
        nearest: nearest)
    case .unreadable(let reason):
      return .init(.replayFailed, identifier: identifier, reason)
    }
  }
}
