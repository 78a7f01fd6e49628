package import JSONText
import SnapshotAPI
package import SnapshotFormat
package import SnapshotViewer

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
  /// The part of the file that was asked for.
  package var selection: FileSelection
  /// The preview of the file.
  package var preview: FilePreview

  /// Creates a page.
  package init(
    record: SnapshotRecord, path: String, size: Int64, recording: Manifest.Recording? = nil,
    selection: FileSelection = FileSelection(), preview: FilePreview
  ) {
    self.record = record
    self.path = path
    self.size = size
    self.recording = recording
    self.selection = selection
    self.preview = preview
  }
}

/// The part of a file that one page shows.
///
/// Texts are as in the file. Rendering escapes them and makes invisible characters visible.
package struct FilePreview: Sendable {
  /// The content of a preview.
  package enum Content: Sendable {
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
  package struct Hit: Sendable, Hashable {
    /// The place of a match.
    package enum Place: Sendable, Hashable {
      /// A value of a JSON document, by its path and its index in its container.
      case value(JSONPath, index: Int)
      /// A line of text, from 0.
      case line(Int)
    }

    /// The number of the match, from 1.
    package var number: Int
    /// The number of all matches, and whether there are more than that.
    package var count: Int
    package var isCut: Bool
    /// Where the match is, and the text around it.
    package var place: Place
    package var excerpt: Excerpt

    /// Creates a match from its parts.
    package init(number: Int, count: Int, isCut: Bool, place: Place, excerpt: Excerpt) {
      self.number = number
      self.count = count
      self.isCut = isCut
      self.place = place
      self.excerpt = excerpt
    }
  }

  /// The contents of a string that are shown instead of the file.
  package struct Decoded: Sendable, Hashable {
    /// The path to the string.
    package var path: JSONPath
    /// How the contents are encoded.
    package var text: EncodedText
    /// The number of bytes of the contents.
    package var size: Int

    /// Describes decoded contents.
    package init(path: JSONPath, text: EncodedText, size: Int) {
      self.path = path
      self.text = text
      self.size = size
    }
  }

  /// The content of the preview.
  package var content: Content
  /// How the content is shown; `nil` if the file has only one view.
  package var view: FileSelection.View?
  /// The views of the file.
  package var views: [FileSelection.View]
  /// A sentence about the file or the part that is shown; `nil` if there is nothing to say.
  package var remark: String?
  /// The match that is shown in its place; `nil` if no text to find leads here.
  package var hit: Hit?
  /// What is shown instead of the file; `nil` for the file itself.
  package var decoded: Decoded?
  /// Whether the values are those of an archive of `NSKeyedArchiver`.
  package var isKeyedArchive = false
  /// What the string that is shown contains in an encoded form; `nil` for other content.
  package var encoded: EncodedText?

  /// Creates a preview from its parts.
  package init(
    _ content: Content, view: FileSelection.View? = nil, views: [FileSelection.View] = [],
    remark: String? = nil
  ) {
    self.content = content
    self.view = view
    self.views = views
    self.remark = remark
  }
}
