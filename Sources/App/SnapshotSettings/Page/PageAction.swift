import DataSnapshots
import SnapshotFormat

/// What the page's forms ask for, each at a path of its own.
enum PageAction: String, Sendable, CaseIterable {
  case state, upload, activate, deactivate, cancel, retry, remove
  case clearRecordings = "clear-recordings"
  case clearRecent = "clear-recent"

  /// The action at `path`, such as `/state`.
  init?(path: String) { self.init(rawValue: String(path.dropFirst())) }

  /// Where its form is sent.
  var path: String { "/" + rawValue }

  /// The field that a person fills in.
  var field: String? {
    switch self {
    case .upload: "report"
    case .activate: "snapshot"
    default: nil
    }
  }

  /// Does, or begins, what the form asks for.
  func perform(on settings: BetaSettings, _ form: PageForm) async throws(BetaSettingsError) {
    switch self {
    case .state:
      if let state = SnapshotMode.State(rawValue: form["state"]) { settings.state = state }
    case .upload: try await settings.upload(toReport: form["report"])
    case .activate: try settings.activate(form["snapshot"])
    case .deactivate: try await settings.deactivate()
    case .cancel: settings.cancel()
    case .retry: if let id = SnapshotID(form["id"]) { try await settings.retry(id) }
    case .remove: if let id = SnapshotID(form["id"]) { try await settings.remove(id) }
    case .clearRecordings: try await settings.clearRecordings()
    case .clearRecent: try await settings.clearRecent()
    }
  }
}
