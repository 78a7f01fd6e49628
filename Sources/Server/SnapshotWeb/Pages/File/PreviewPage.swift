import JSONText
import SnapshotAPI
import SnapshotFormat
import SnapshotViewer

/// The page `/snapshots/{id}/files/{path}`: one file of a snapshot.
struct PreviewPage: Sendable {
  /// The snapshot.
  var record: SnapshotRecord
  /// The file's path in the bundle.
  var path: String
  /// The file's size in bytes.
  var size: Int64
  /// The manifest's entry for the file, if it is a recording.
  var recording: Manifest.Recording?
  /// The part of the file that was asked for.
  var selection: FileSelection = FileSelection()
  /// The preview of the file.
  var preview: FilePreview
  /// The comparison with another snapshot; `nil` if none was asked for.
  var comparison: FileComparison?
}

/// The part of a file that one page shows.
///
/// Texts are as in the file. Rendering escapes them and makes invisible characters visible.
struct FilePreview: Sendable {
  /// The content of a preview.
  enum Content: Sendable {
    /// A value of a JSON document with the values in it.
    case outline(JSONOutline)
    /// A part of a string in a JSON document.
    case string(JSONStringPage)
    /// An array of objects in a JSON document.
    case table(JSONTable)
    /// A JSON document with one value in each line, and the number of all lines.
    case formatted(JSONFormatted, count: Int)
    /// The values of a JSON document that contain a text.
    case hits(JSONSearch.Result)
    /// Lines of text, and the number of all lines. Matches of the text to find are marked.
    case text([TextView.Line], count: Int)
    /// Lines that contain a text, the number of all such lines, and whether there are more than that.
    case matches([TextView.Match], count: Int, isCut: Bool)
    /// An image that browsers display.
    case image(ImageHeader)
    /// Bytes in rows of 16, and the number of all bytes. The last row can be shorter.
    case hex([[UInt8]], count: Int)
    /// An empty file.
    case empty
    /// The file can't be shown, for the reason in this sentence.
    case unreadable(String)
  }

  /// One match among all matches of the text to find.
  struct Hit: Sendable, Hashable {
    /// The place of a match.
    enum Place: Sendable, Hashable {
      /// A value of a JSON document, by its path and its index in its container.
      case value(JSONPath, index: Int)
      /// A line of text, from 0.
      case line(Int)
    }

    /// The number of the match, from 1.
    var number: Int
    /// The number of all matches, and whether there are more than that.
    var count: Int
    var isCut: Bool
    /// Where the match is, and the text around it.
    var place: Place
    var excerpt: Excerpt
  }

  /// The contents of a string that are shown instead of the file.
  struct Decoded: Sendable, Hashable {
    /// The path to the string.
    var path: JSONPath
    /// How the contents are encoded.
    var text: EncodedText
    /// The number of bytes of the contents.
    var size: Int
  }

  /// The content of the preview.
  var content: Content
  /// How the content is shown; `nil` if the file has only one view.
  var view: FileSelection.View?
  /// The views of the file.
  var views: [FileSelection.View]
  /// A sentence about the file or the part that is shown; `nil` if there is nothing to say.
  var remark: String?
  /// The match that is shown in its place; `nil` if no text to find leads here.
  var hit: Hit?
  /// What is shown instead of the file; `nil` for the file itself.
  var decoded: Decoded?
  /// Whether the values are those of an archive of `NSKeyedArchiver`.
  var isKeyedArchive = false
  /// What the string that is shown contains in an encoded form; `nil` for other content.
  var encoded: EncodedText?

  /// Creates a preview from its parts.
  init(
    _ content: Content, view: FileSelection.View? = nil, views: [FileSelection.View] = [],
    remark: String? = nil
  ) {
    self.content = content
    self.view = view
    self.views = views
    self.remark = remark
  }
}
