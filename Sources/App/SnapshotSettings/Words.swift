import DataSnapshots
import Foundation

extension SnapshotMode.State {
  /// The state as the label of a button.
  var label: String {
    switch self {
    case .disabled: "Off"
    case .recording: "Record"
    case .replaying: "Replay"
    }
  }
}

extension SnapshotMode.PreviousRun {
  /// When it ran, and how much it recorded, in this device's time zone.
  var words: String {
    let count = "\(recordings) recording\(recordings == 1 ? "" : "s"), \(sizeWords(bytes))"
    let style = Date.FormatStyle(date: .abbreviated, time: .shortened, locale: Locale(identifier: "en_GB"))
    // A run whose beginning could not be read.
    guard began > Date(timeIntervalSince1970: 0) else { return count }
    return "\(began.formatted(style)) to \(ended.formatted(style)): \(count)"
  }
}

/// Formats a number of bytes.
func sizeWords(_ bytes: Int64) -> String {
  switch bytes {
  case ..<1000: "\(bytes) B"
  case ..<1_000_000: "\((bytes + 500) / 1000) KB"
  default: "\(bytes / 1_000_000).\(bytes % 1_000_000 / 100_000) MB"
  }
}

extension BetaSettings.Upload.State {
  /// The state as a short sentence.
  var words: String {
    switch self {
    case .waiting(let reason): "Waiting: \(reason)"
    case .sending: "Sending"
    case .done: "Sent"
    case .failed(let reason): "Not sent: \(reason)"
    }
  }
}
