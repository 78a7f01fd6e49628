import Foundation
import SnapshotFormat

/// What the list of a snapshot's page shows: everything in a bundle, without the contents of its files.
struct BundleContents: Sendable {
  /// A recording in the list.
  struct Recording: Sendable {
    /// The identifier assigned by the app.
    var identifier: String
    /// The path in the bundle.
    var path: String
    /// The number of the call, if a history is kept.
    var call: Int?
    /// The size in bytes.
    var size: Int64
    /// When it was recorded.
    var recordedAt: Date
    /// The outcome and the duration of the exchange, in a few words; `nil` for other data.
    var outcome: String?
    /// The number of the first module that declares it; `nil` if none does.
    var module: Int?
    /// What the exchange says about it.
    var exchangeProblem: RecordingProblem?
    /// Whether it may have no bytes.
    var mayBeEmpty = false
    /// Whether its contents are meant to be JSON.
    var isMeantAsJSON = false

    /// Its problem, given what its contents are.
    func problem(with state: ContentState?) -> RecordingProblem? {
      RecordingProblem(ofExchange: exchangeProblem, ofContents: state?.problem, mayBeEmpty: mayBeEmpty)
    }
  }

  /// The version of the manifest's format.
  var formatVersion: Int
  /// The names of the applied redaction rules, at most ``PageLimits/names``.
  var redactions: [String]
  /// The number of applied redaction rules.
  var redactionCount: Int
  /// The first modules in the manifest's order, at most ``PageLimits/modules``.
  var modules: [ModuleSummary]
  /// The number of modules.
  var moduleCount: Int
  /// What was not recorded.
  var dropped: [Manifest.Dropped] = []
  /// All recordings, in the manifest's order.
  var recordings: [Recording]
  /// All attachments.
  var attachments: [FileEntry] = []
  /// All files of the app's container.
  var files: [FileEntry] = []

  /// The total size of all recordings, in bytes.
  var recordingBytes: Int64 {
    // The sizes in a manifest are untrusted and can overflow.
    recordings.reduce(0) { $0.addingReportingOverflow($1.size).partialValue }
  }

  /// The approximate memory that it uses, in bytes.
  var memory: Int {
    recordings.reduce(0) { $0 + 240 + $1.identifier.utf8.count + $1.path.utf8.count }
      + (attachments + files).reduce(0) { $0 + 80 + $1.path.utf8.count }
  }
}

/// A part of a longer list.
struct PageSlice<Element: Sendable>: Sendable {
  /// The elements.
  var rows: [Element]
  /// The number of elements before them.
  var start: Int
  /// The number of elements in the whole list.
  var total: Int

  /// Creates a slice that starts after `start` of `total` elements.
  init(_ rows: [Element] = [], start: Int = 0, total: Int = 0) {
    self.rows = rows
    self.start = start
    self.total = total
  }

  /// The part of `elements` that starts after `start` of them, at most `most`.
  init(of elements: [Element], from start: Int, most: Int = PageLimits.rows) {
    let start = min(max(0, start), elements.count)
    self.init(Array(elements[start...].prefix(most)), start: start, total: elements.count)
  }
}

/// A module, and which of its identifiers were recorded.
struct ModuleSummary: Sendable, Hashable {
  /// The module's name.
  var name: String
  /// The number of different identifiers that the module declares.
  var wanted: Int
  /// The number of declared identifiers without recording.
  var missing: Int
  /// The first identifiers without recording, at most ``PageLimits/names``.
  var missingIdentifiers: [String]
  /// Why the recordings of some of these identifiers were dropped, in a few words.
  var reasons: [String: String] = [:]
}

/// A file of a bundle.
struct FileEntry: Sendable, Hashable {
  /// The file's path in the bundle, such as `attachments/screenshot.png`.
  var path: String
  /// The path with the names that the user gave.
  var name: String { PortableName.decode(path: path) }
  /// The file's size in bytes.
  var size: Int64
  /// Whether browsers display the file as an image.
  var isImage: Bool
}
