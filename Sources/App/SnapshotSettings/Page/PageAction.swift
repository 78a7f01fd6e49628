import DataSnapshots
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat

/// The actions of the page's forms, each with its own path.
enum PageAction: String, Sendable, CaseIterable {
  case state, upload, activate, deactivate, cancel, retry, remove
  case clearRecordings = "clear-recordings"
  case clearRecent = "clear-recent"
  case uploadCrash = "upload-crash"
  case discardCrash = "discard-crash"

  /// The action at `path`, such as `/state`.
  init?(path: String) { self.init(rawValue: String(path.dropFirst())) }

  /// The path to which the form is sent.
  var path: String { "/" + rawValue }

  /// The name of the text field, if the form has one.
  var field: String? {
    switch self {
    case .upload: "report"
    case .uploadCrash: "crash-report"
    case .activate: "snapshot"
    default: nil
    }
  }

  /// Performs or starts the action.
  func perform(on settings: BetaSettings, _ form: PageForm) async throws(BetaSettingsError) {
    switch self {
    case .state:
      if let state = SnapshotMode.State(rawValue: form["state"]) { settings.state = state }
    case .upload: try await settings.upload(toReport: form["report"], note: form["note"])
    case .uploadCrash:
      try await settings.upload(toReport: form["crash-report"], note: form["note"], of: .previous)
    case .discardCrash: try await settings.discardCrashedRun()
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

/// The fields of a submitted form.
struct PageForm: Sendable {
  /// The maximum size of a form's body in bytes.
  ///
  /// A note of the maximum length, every byte of which is percent-encoded, fits.
  static let limit: Int64 = 128 * 1024

  private let fields: [String: String]

  /// Decodes the body of a `POST` request, which must be `application/x-www-form-urlencoded`.
  init(_ request: HTTPServerRequest) async throws {
    let type = request.headerFields[.contentType].flatMap { MediaType($0) }
    guard type?.essence == "application/x-www-form-urlencoded" else {
      throw HTTPProblem(
        .unsupportedMediaType, kind: "unsupported-media-type", title: "This is not a form",
        detail: "The page expects forms as application/x-www-form-urlencoded.")
    }
    let bytes = try await request.body.collect(upTo: Self.limit)
    fields = try Dictionary(QueryParameters(form: bytes).pairs.map { ($0.name, $0.value) }) { first, _ in
      first
    }
  }

  /// The first value of the field `name`; empty if the field does not exist.
  subscript(name: String) -> String { fields[name] ?? "" }
}
