import SnapshotFormat

/// The media type of a file in a bundle, by its extension.
///
/// The content of a bundle is not trusted. Only types that browsers don't execute are shown inline: JSON, plain text,
/// images and videos. All other files, including HTML and SVG, are downloads of the type `application/octet-stream`.
package struct FileType: Hashable {
  /// The value of `Content-Type`.
  let mediaType: String
  /// Whether the file is shown inline.
  let isShown: Bool

  /// Creates the type of the file at `path`.
  init(path: String) {
    let type = Self.shown[Self.ending(of: path)]
    mediaType = type ?? "application/octet-stream"
    isShown = type != nil
  }

  /// Whether the name of the file at `path` ends as those of JSON do.
  package static func isNamedAsJSON(_ path: String) -> Bool {
    ContentExaminer.extensionsOfJSON.contains(ending(of: path))
  }

  /// All media types that are shown inline.
  static var mediaTypes: Set<String> { Set(shown.values) }

  /// Returns the extension after the last dot, in lower case. For a recording, ignores the number of its call.
  private static func ending(of path: String) -> String {
    let fileName = String(path.split(separator: "/").last ?? "")
    let name = RecordingName(fileName: fileName)?.stem ?? fileName
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.utf8.startIndex else { return "" }
    return String(decoding: name.utf8[dot...].dropFirst(), as: UTF8.self).lowercased()
  }

  private static let text = "text/plain; charset=utf-8"
  private static let shown = [
    "json": "application/json", "txt": text, "log": text, "md": text, "csv": text, "ndjson": text,
    "jsonl": text, "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
    "webp": "image/webp", "heic": "image/heic", "mp4": "video/mp4", "mov": "video/quicktime",
  ]
}
