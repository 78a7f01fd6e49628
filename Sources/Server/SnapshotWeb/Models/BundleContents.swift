import SnapshotFormat

/// The part of a bundle's contents that one page shows.
struct BundleContents: Sendable {
  /// The version of the manifest's format.
  var formatVersion: Int
  /// The names of the applied redaction rules, at most ``PageLimits/names``.
  var redactions: [String]
  /// The number of applied redaction rules.
  var redactionCount: Int
  /// The number of recordings of all modules.
  var recordingCount: Int
  /// The total size of all recordings, in bytes.
  var recordingBytes: Int64
  /// The size of the largest recording, in bytes, which is shown as a full bar.
  var largestRecording: Int64
  /// The first modules in the manifest's order, at most ``PageLimits/modules``.
  var modules: [ModuleSummary]
  /// The number of modules.
  var moduleCount: Int
  /// The first entries of what was not recorded, at most ``PageLimits/rows``.
  var dropped: PageSlice<Manifest.Dropped> = PageSlice()
  /// One page of the recordings of the selected module, or of all, in the manifest's order.
  var recordings: PageSlice<Manifest.Recording>
  /// The first attachments, at most ``PageLimits/rows``.
  var attachments: PageSlice<FileEntry>
  /// One page of the files of the app's container.
  var files: PageSlice<FileEntry>
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
