import SnapshotFormat

/// The first bytes of a file, from which its type is detected, and access to the bytes after them.
struct FileHead {
  /// The first bytes: at least ``length`` and at most one piece more, or the whole file.
  let bytes: [UInt8]
  /// Whether ``bytes`` is the whole file.
  let isWhole: Bool
  /// The length of the file.
  let size: Int64

  private let next: () throws(BundleError) -> [UInt8]?

  /// The number of bytes read to detect a file's type.
  static let length = 128 << 10

  init(_ entry: CheckedBundle.Entry) throws(BundleError) {
    size = entry.size
    next = try entry.pieces()
    var bytes: [UInt8] = []
    var isWhole = false
    while bytes.count < Self.length, !isWhole {
      if let piece = try next() { bytes += piece } else { isWhole = true }
    }
    self.bytes = bytes
    self.isWhole = isWhole || Int64(bytes.count) == entry.size
  }

  /// Returns the next bytes after ``bytes``, or `nil` at the end of the file.
  func more() throws(BundleError) -> [UInt8]? { isWhole ? nil : try next() }

  /// Whether the file is an image that browsers display under the name `path`.
  func image(at path: String) -> Bool {
    guard ImageHeader.isShown(path: path), size <= ImageHeader.maximumSize,
      let header = ImageHeader(bytes)
    else { return false }
    return header.hasFewPixels
  }

  /// Whether the file can be JSON, judging by its first character.
  var mayBeJSON: Bool {
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    let first = start.first { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }
    return first.map { "{[\"-0123456789tfn".utf8.contains($0) } ?? false
  }

  /// Whether the file is presumably meant to be JSON: it starts with `{` or `[`, which is unlikely for other text.
  var claimsJSON: Bool {
    bytes.first { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }.map { $0 == 0x7B || $0 == 0x5B }
      ?? false
  }

  /// Whether the file is mostly text: it has no NUL and almost no invalid UTF-8.
  var isText: Bool {
    guard !bytes.contains(0) else { return false }
    var wrong = 0
    var control = 0
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      if scalar == "\u{FFFD}" { wrong += 1 }
      if scalar < " ", !"\t\n\r\u{1B}\u{0C}".unicodeScalars.contains(scalar) { control += 1 }
    }
    return (wrong + control) * 16 <= bytes.count
  }
}
