public import SnapshotClient
public import SnapshotFormat

/// Why something was not begun; a sentence for the person who asked for it.
public enum BetaSettingsError: Error, Sendable, CustomStringConvertible {
  /// Something else goes on: its title.
  case busy(String)
  /// What was entered means no snapshot.
  case reference(SnapshotReference.Refusal)
  /// What was entered is no report's name.
  case report(ReportID.Refusal)
  /// The address names another server than the one that the app fetches from.
  case otherServer(named: String, own: String)
  /// There is nothing to send.
  case nothingRecorded

  /// What is wrong, and what to do about it.
  public var description: String {
    switch self {
    case .busy(let title): "‘\(title)’ still goes on. Wait for its end, or stop it."
    case .reference(let refusal): refusal.description
    case .report(let refusal): refusal.description
    case .otherServer(let named, let own):
      "That snapshot lies on \(named), but this app fetches from \(own). Enter its UUID alone to look for it there."
    case .nothingRecorded:
      "Nothing is recorded yet. Switch to recording, use the app until the bug shows, and come back."
    }
  }
}
