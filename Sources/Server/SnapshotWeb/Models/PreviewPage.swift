import SnapshotAPI
package import SnapshotFormat

/// The page `/snapshots/{id}/files/{path}`: one file of a snapshot.
package struct PreviewPage: Sendable {
  /// The snapshot.
  package var record: SnapshotRecord
  /// The file's path in the bundle.
  package var path: String
  /// The file's size in bytes.
  package var size: Int64
  /// The manifest's entry for the file, if it is a recording.
  package var recording: Manifest.Recording?
  /// The preview of the file.
  package var preview: FilePreview

  /// Creates a page.
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

/// The preview of a file, within the limits of one page.
///
/// Texts are as in the file. Rendering escapes them and makes invisible characters visible.
package struct FilePreview: Sendable, Hashable {
  /// The content of a preview.
  package enum Content: Sendable, Hashable {
    /// A JSON document as a list of values.
    case json([JSONLine])
    /// Text as a list of lines, without line ends.
    case text([String])
    /// An image that browsers display.
    case image
    /// Any other file: its bytes in rows of 16. The last row can be shorter.
    case hex([[UInt8]])
    /// An empty file.
    case empty
    /// The file can't be shown, for the reason in this sentence.
    case unreadable(String)
  }

  /// The content of the preview.
  package var content: Content
  /// A sentence about why the file is not shown completely; `nil` if it is.
  package var cut: String?

  /// Creates a preview from its parts.
  package init(_ content: Content, cut: String? = nil) {
    self.content = content
    self.cut = cut
  }
}

/// A value of a JSON document. A document is the list of its values in order; a container precedes its values.
package struct JSONLine: Sendable, Hashable {
  /// A value.
  package enum Value: Sendable, Hashable {
    /// An object and the number of its members, if known.
    case object(count: Int?)
    /// An array and the number of its elements, if known.
    case array(count: Int?)
    /// A string as written in the document: with its escapes, without quotes.
    case string(String, isCut: Bool)
    /// A number as written in the document.
    case number(String)
    /// `true`, `false` or `null`.
    case literal(String)
    /// The number of further values of the container that are not shown, if known.
    case omitted(count: Int?)
  }

  /// The number of containers around the value.
  package var depth: Int
  /// The value's key as written in the document, without quotes, if it is a member of an object.
  package var key: String?
  /// The value.
  package var value: Value

  /// Creates a line from its parts.
  package init(depth: Int, key: String? = nil, _ value: Value) {
    self.depth = depth
    self.key = key
    self.value = value
  }
}
