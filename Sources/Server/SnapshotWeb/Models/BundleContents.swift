package import SnapshotFormat

/// The part of a bundle's contents that one page shows.
package struct BundleContents: Sendable {
  /// The version of the manifest's format.
  package var formatVersion: Int
  /// The names of the applied redaction rules, at most ``PageLimits/names``.
  package var redactions: [String]
  /// The number of applied redaction rules.
  package var redactionCount: Int
  /// The number of recordings of all modules.
  package var recordingCount: Int
  /// The total size of all recordings, in bytes.
  package var recordingBytes: Int64
  /// The size of the largest recording, in bytes, which is shown as a full bar.
  package var largestRecording: Int64
  /// The first modules in the manifest's order, at most ``PageLimits/modules``.
  package var modules: [ModuleSummary]
  /// The number of modules.
  package var moduleCount: Int
  /// The first entries of what was not recorded, at most ``PageLimits/rows``.
  package var dropped: PageSlice<Manifest.Dropped>
  /// One page of the recordings of the selected module, or of all, in the manifest's order.
  package var recordings: PageSlice<Manifest.Recording>
  /// The first attachments, at most ``PageLimits/rows``.
  package var attachments: PageSlice<FileEntry>
  /// One page of the files of the app's container.
  package var files: PageSlice<FileEntry>

  /// Creates contents from their parts.
  package init(
    formatVersion: Int, redactions: [String], redactionCount: Int, recordingCount: Int,
    recordingBytes: Int64, largestRecording: Int64, modules: [ModuleSummary], moduleCount: Int,
    dropped: PageSlice<Manifest.Dropped> = PageSlice(), recordings: PageSlice<Manifest.Recording>,
    attachments: PageSlice<FileEntry>,
    files: PageSlice<FileEntry>
  ) {
    self.formatVersion = formatVersion
    self.redactions = redactions
    self.redactionCount = redactionCount
    self.recordingCount = recordingCount
    self.recordingBytes = recordingBytes
    self.largestRecording = largestRecording
    self.modules = modules
    self.moduleCount = moduleCount
    self.dropped = dropped
    self.recordings = recordings
    self.attachments = attachments
    self.files = files
  }
}

/// A part of a longer list.
package struct PageSlice<Element: Sendable>: Sendable {
  /// The elements.
  package var rows: [Element]
  /// The number of elements before them.
  package var start: Int
  /// The number of elements in the whole list.
  package var total: Int

  /// Creates a slice that starts after `start` of `total` elements.
  package init(_ rows: [Element] = [], start: Int = 0, total: Int = 0) {
    self.rows = rows
    self.start = start
    self.total = total
  }
}

/// A module, and which of its identifiers were recorded.
package struct ModuleSummary: Sendable, Hashable {
  /// The module's name.
  package var name: String
  /// The number of different identifiers that the module declares.
  package var wanted: Int
  /// The number of declared identifiers without recording.
  package var missing: Int
  /// The first identifiers without recording, at most ``PageLimits/names``.
  package var missingIdentifiers: [String]
  /// Why the recordings of some of these identifiers were dropped, in a few words.
  package var reasons: [String: String] = [:]

  /// Creates a summary from its parts.
  package init(name: String, wanted: Int, missing: Int, missingIdentifiers: [String]) {
    self.name = name
    self.wanted = wanted
    self.missing = missing
    self.missingIdentifiers = missingIdentifiers
  }
}

/// A file of a bundle.
package struct FileEntry: Sendable, Hashable {
  /// The file's path in the bundle, such as `attachments/screenshot.png`.
  package var path: String
  /// The path with the names that the user gave.
  package var name: String { PortableName.decode(path: path) }
  /// The file's size in bytes.
  package var size: Int64
  /// Whether browsers display the file as an image.
  package var isImage: Bool

  /// Creates an entry from its parts.
  package init(path: String, size: Int64, isImage: Bool) {
    self.path = path
    self.size = size
    self.isImage = isImage
  }
}
