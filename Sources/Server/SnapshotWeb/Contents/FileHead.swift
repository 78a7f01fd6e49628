import SnapshotAPI
import SnapshotFormat
import SnapshotViewer

/// The first bytes of a file, from which its type is detected.
struct FileHead {
  /// The first bytes, at most ``length``.
  let bytes: [UInt8]
  /// The length of the file.
  let size: Int64

  /// The number of bytes read to detect a file's type.
  static let length = ContentHead.length

  init(_ file: ViewedBytes) throws(ViewerError) {
    size = Int64(file.size)
    bytes = try file.read(upTo: Self.length, at: 0)
  }

  init(_ entry: CheckedBundle.Entry) throws(BundleError) {
    size = entry.size
    let next = try entry.pieces()
    var bytes: [UInt8] = []
    while bytes.count < Self.length, let piece = try next() { bytes += piece }
    self.bytes = bytes
  }

  /// The header of an image that browsers display; `nil` for other files.
  /// - Parameter path: the name under which the file is served; `nil` if its type does not depend on a name.
  func image(at path: String?) -> ImageHeader? {
    guard path.map(ImageHeader.isShown) ?? true, size <= ImageHeader.maximumSize,
      let header = ImageHeader(bytes), header.hasFewPixels
    else { return nil }
    return header
  }

  /// Whether the file can be JSON, judging by its first character.
  var mayBeJSON: Bool { ContentHead(bytes).mayBeJSON }

  /// Whether the file is presumably meant to be JSON.
  var claimsJSON: Bool { ContentHead(bytes).claimsJSON }

  /// Whether a file with this name is meant to be JSON.
  static func claimsJSON(_ name: String?) -> Bool { name.map(FileType.isNamedAsJSON) ?? false }

  /// Whether the file is mostly text.
  var isText: Bool { ContentHead(bytes).isText }

  /// The first byte for which the file is not text, and what is wrong with it; `nil` if there is none.
  var textFailure: (offset: Int, reason: String)? { ContentHead(bytes).textFailure }
}
