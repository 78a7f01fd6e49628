package import SnapshotFormat

/// What a bundle holds, as far as one page shows it.
package struct BundleContents: Sendable {
  /// The version of the manifest's format.
  package var formatVersion: Int
  /// The names of the redaction rules that ran: the first ``PageLimits/names`` of them.
  package var redactions: [String]
  /// How many redaction rules ran.
  package var redactionCount: Int
  /// How many recordings there are, of all modules.
  package var recordingCount: Int
  /// How many bytes all recordings have.
  package var recordingBytes: Int64
  /// How many bytes the largest recording has: a whole bar.
  package var largestRecording: Int64
  /// The first ``PageLimits/modules`` modules, in the manifest's order.
  package var modules: [ModuleSummary]
  /// How many modules there are.
  package var moduleCount: Int
  /// One page of the recordings, in the manifest's order: of the module that was selected, or of all.
  package var recordings: PageSlice<Manifest.Recording>
  /// What came beside the recordings: the first ``PageLimits/rows`` of them.
  package var attachments: PageSlice<FileEntry>
  /// One page of the files of the app's container.
  package var files: PageSlice<FileEntry>

  /// Describes a bundle.
  package init(
    formatVersion: Int, redactions: [String], redactionCount: Int, recordingCount: Int,
    recordingBytes: Int64, largestRecording: Int64, modules: [ModuleSummary], moduleCount: Int,
    recordings: PageSlice<Manifest.Recording>, attachments: PageSlice<FileEntry>,
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
    self.recordings = recordings
    self.attachments = attachments
    self.files = files
  }
}

/// A part of a longer list.
package struct PageSlice<Element: Sendable>: Sendable {
  /// The elements.
  package var rows: [Element]
  /// How many elements come before them.
  package var start: Int
  /// How many elements the whole list has.
  package var total: Int

  /// The elements behind the first `start` of `total`.
  package init(_ rows: [Element] = [], start: Int = 0, total: Int = 0) {
    self.rows = rows
    self.start = start
    self.total = total
  }
}

/// A module, and what of it is recorded.
package struct ModuleSummary: Sendable, Hashable {
  /// Its name.
  package var name: String
  /// How many different identifiers it wants.
  package var wanted: Int
  /// How many of these are missing.
  package var missing: Int
  /// The first ``PageLimits/names`` identifiers that are missing.
  package var missingIdentifiers: [String]

  /// Describes a module.
  package init(name: String, wanted: Int, missing: Int, missingIdentifiers: [String]) {
    self.name = name
    self.wanted = wanted
    self.missing = missing
    self.missingIdentifiers = missingIdentifiers
  }
}

/// A file of a bundle.
package struct FileEntry: Sendable, Hashable {
  /// Where it lies in the bundle: `attachments/screenshot.png`.
  package var path: String
  /// Its length in bytes.
  package var size: Int64
  /// Whether browsers show it as a picture.
  package var isImage: Bool

  /// Describes a file.
  package init(path: String, size: Int64, isImage: Bool) {
    self.path = path
    self.size = size
    self.isImage = isImage
  }
}
