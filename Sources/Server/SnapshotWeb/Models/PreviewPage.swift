import SnapshotAPI
package import SnapshotFormat

/// `/snapshots/{id}/files/{path}`: one file of a snapshot.
package struct PreviewPage: Sendable {
  /// The snapshot.
  package var record: SnapshotRecord
  /// Where the file lies in the bundle.
  package var path: String
  /// Its length in bytes.
  package var size: Int64
  /// What the manifest says of it, where it is a recording.
  package var recording: Manifest.Recording?
  /// What it looks like.
  package var preview: FilePreview

  /// A page.
  package init(
    record: SnapshotRecord, path: String, size: Int64, recording: Manifest.Recording? = nil,
    preview: FilePreview
  ) {
    self.record = record
    self.path = path
    self.size = size
    self.recording = recording
    self.preview = preview
  }
}

/// What a file looks like, as far as one page shows it.
///
/// Text is as it stands in the file: pages escape it, and make visible what can't be seen.
package struct FilePreview: Sendable, Hashable {
  /// What was made of the file's bytes.
  package enum Content: Sendable, Hashable {
    /// JSON, value by value.
    case json([JSONLine])
    /// Text, line by line, without the lines' ends.
    case text([String])
    /// A picture that browsers show.
    case image
    /// Anything else: its bytes, 16 a row, the last row shorter.
    case hex([[UInt8]])
    /// A file without a byte.
    case empty
    /// Nothing could be made of it, for the reason in a sentence.
    case unreadable(String)
  }

  /// What was made of the file's bytes.
  package var content: Content
  /// Why not all of it is shown, in a sentence; `nil` where all of it is.
  package var cut: String?

  /// Describes what a file looks like.
  package init(_ content: Content, cut: String? = nil) {
    self.content = content
    self.cut = cut
  }
}

/// A value of a JSON document. A document is all of its values in their order, each container before what it holds.
package struct JSONLine: Sendable, Hashable {
  /// A value.
  package enum Value: Sendable, Hashable {
    /// An object, and how many members it has, where that is known.
    case object(count: Int?)
    /// An array, and how many elements it has, where that is known.
    case array(count: Int?)
    /// A string as it is spelt in the document, escapes included, without its quotes.
    case string(String, isCut: Bool)
    /// A number as it is spelt in the document.
    case number(String)
    /// `true`, `false` or `null`.
    case literal(String)
    /// So many further values of the container that are not shown, where the number is known.
    case omitted(count: Int?)
  }

  /// How many containers it is in.
  package var depth: Int
  /// Its key, where it is a member of an object: as it is spelt in the document, without its quotes.
  package var key: String?
  /// The value.
  package var value: Value

  /// Describes a value.
  package init(depth: Int, key: String? = nil, _ value: Value) {
    self.depth = depth
    self.key = key
    self.value = value
  }
}
