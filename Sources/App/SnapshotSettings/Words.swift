import DataSnapshots

extension SnapshotMode.State {
  /// The state in a word, as it stands on a switch.
  var label: String {
    switch self {
    case .disabled: "Off"
    case .recording: "Record"
    case .replaying: "Replay"
    }
  }
}

extension BetaSettings.Upload.State {
  /// The state in a sentence.
  var words: String {
    switch self {
    case .waiting(let reason): "Waits: \(reason)"
    case .sending: "Is being sent"
    case .done: "Sent"
    case .failed(let reason): "Not sent: \(reason)"
    }
  }
}
