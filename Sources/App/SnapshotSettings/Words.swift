import DataSnapshots

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
