public import SnapshotClient
public import SnapshotFormat

/// The reason why an operation was not started, as a sentence for the tester.
public enum BetaSettingsError: Error, Sendable, CustomStringConvertible {
  /// Another operation, with this title, is running.
  case busy(String)
  /// The text does not identify a snapshot.
  case reference(SnapshotReference.Refusal)
  /// The note has more than this number of bytes in UTF-8.
  case noteTooLong(limit: Int)
  /// The text is not a valid report id.
  case report(ReportID.Refusal)
  /// The address is on another server than the one from which the app fetches.
  case otherServer(named: String, own: String)
  /// There are no recordings to send.
  case nothingRecorded
  /// Nothing is kept of the run before this one.
  case noPreviousRun

  /// A description of the problem and its remedy.
  public var description: String {
    switch self {
    case .busy(let title): "‘\(title)’ is still running. Wait until it ends, or stop it."
    case .reference(let refusal): refusal.description
    case .noteTooLong(let limit): "The note is too long: it can have \(limit / 1024) KiB. Shorten it."
    case .report(let refusal): refusal.description
    case .otherServer(let named, let own):
      "This snapshot is on \(named), but this app fetches from \(own). To look for it there, enter only its UUID."
    case .nothingRecorded:
      "Nothing is recorded yet. Switch to Record, use the app until the bug occurs, and try again."
    case .noPreviousRun: "Nothing is kept of the last run any more. Send the current recordings instead."
    }
  }
}
