package import Foundation

extension SnapshotMode {
  /// A problem that occurred while the app continued.
  public struct Event: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of problems.
    public enum Kind: String, Sendable, CaseIterable {
      /// Data was not recorded: it or its identifier exceeds a limit, or too much data is waiting to be written.
      case recordingRefused
      /// Data was not recorded because a redaction rule could not be applied to it.
      case redactionFailed
      /// The disk is full. Nothing is recorded until it has free space. Sent once per pause.
      case recordingPaused
      /// The disk has free space again, after a pause.
      case recordingResumed
      /// The oldest recordings were removed, to stay within ``SnapshotMode/Limits``.
      case recordingsRemoved
      /// Data could not be written.
      case recordingFailed
      /// With ``SnapshotMode/Durability/beforeReturn(upTo:)``, data could not be written before `process` returned. It is
      /// written as with ``SnapshotMode/Durability/asynchronous``. Sent once, until the disk accepts data again.
      case durabilityReduced
      /// An identifier has no recording, or no further one (``SnapshotMode/Policy/AfterLast/fail``). The policy determined the result, which is live data by default.
      case recordingMissing
      /// A recording can't be read, or its bytes differ from those recorded. The policy determined the result, which is
      /// live data by default.
      case replayFailed
      /// The state could not be stored for the next launch.
      case stateNotSaved
      /// The launch arguments or environment specify a word that is not a state.
      case stateNotForced
      /// The state or the active snapshot of the last launch can't be read. The state is `disabled`.
      case stateNotRestored
      /// A snapshot could not be sealed, and was made in clear (``SnapshotMode/Sealing/isRequired``).
      case notSealed
      /// Another instance uses the folder, so this one is disabled.
      case folderInUse
      /// Files of an interrupted launch could not be removed, or a file among the recordings is not a recording.
      case leftover
    }

    /// The kind of problem.
    public let kind: Kind
    /// The identifier that was passed, if any.
    public let identifier: String?
    /// A description of the problem, for people.
    public let reason: String
    /// For ``Kind/recordingMissing``, up to three recorded identifiers that differ in a few characters only; for an HTTP
    /// exchange, up to three whose method, path, query or body differs.
    public let nearest: [String]
    /// The redacted body of the request, if an HTTP exchange has no recording and the body is not larger than
    /// ``requestBodyLimit``.
    package var requestBody: Data?

    /// The maximum size of ``requestBody`` in bytes.
    package static let requestBodyLimit = 1 << 20

    init(_ kind: Kind, identifier: String? = nil, _ reason: String, nearest: [String] = []) {
      self.nearest = nearest
      self.kind = kind
      self.identifier = identifier
      self.reason = reason
    }

    /// The kind, identifier and reason on one line.
    public var description: String {
      identifier.map { "\(kind) ‘\($0.prefix(200))’: \(reason)" } ?? "\(kind): \(reason)"
    }
  }
}

/// The reason why data could not be replayed.
enum ReplayProblem: Error {
  case missing
  /// All recorded calls, of this number, were replayed.
  case exhausted(Int)
  case unreadable(String)

  /// Returns the event that reports the problem. Calls `nearest` only if there is no recording.
  func event(_ identifier: String, nearest: () -> [String]) -> SnapshotMode.Event {
    switch self {
    case .missing:
      let nearest = nearest()
      let hint =
        if let exchange = ExchangeIdentifier(identifier), let first = nearest.first,
          let recorded = ExchangeIdentifier(first)
        {
          "; the nearest is ‘\(first.prefix(200))’, which differs in \(exchange.difference(from: recorded))"
        } else if nearest.isEmpty {
          ""
        } else {
          "; did you mean \(nearest.map { "‘\($0.prefix(200))’" }.joined(separator: " or "))?"
        }
      return .init(
        .recordingMissing, identifier: identifier, "nothing is recorded under this identifier\(hint)",
        nearest: nearest)
    case .exhausted(let count):
      return .init(
        .recordingMissing, identifier: identifier,
        count == 1 ? "its only recorded call was replayed" : "all its \(count) recorded calls were replayed")
    case .unreadable(let reason):
      return .init(.replayFailed, identifier: identifier, reason)
    }
  }
}
