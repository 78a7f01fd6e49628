import SnapshotFormat

/// How a file out of a bundle is shown, by the end of its name.
///
/// Whoever recorded may have put anything into it under any name. So only what no browser runs is shown in place: JSON,
/// plain text, pictures and films. Everything else, pages and vector graphics included, is a download of no type.
struct FileType: Hashable {
  /// The value of `Content-Type`.
  let mediaType: String
  /// Whether it may be shown in place.
  let isShown: Bool

  /// The type of the file at `path`.
  init(path: String) {
    let type = Self.shown[Self.ending(of: path)]
    mediaType = type ?? "application/octet-stream"
    isShown = type != nil
  }

  /// Every type that is shown.
  static var mediaTypes: Set<String> { Set(shown.values) }

  /// What stands behind the last dot, in lower case; of a recording, before the number of its call.
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
