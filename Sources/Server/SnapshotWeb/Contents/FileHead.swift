import SnapshotFormat

/// The first bytes of a file, by which it is judged what the file is, and the way to those that follow.
struct FileHead {
  /// The first bytes: ``length`` of them or a piece more, or all.
  let bytes: [UInt8]
  /// Whether ``bytes`` are all.
  let isWhole: Bool
  /// The length of the file.
  let size: Int64

  private let next: () throws(BundleError) -> [UInt8]?

  /// How much is read to judge a file.
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

  /// The bytes behind ``bytes``; `nil` once all came.
  func more() throws(BundleError) -> [UInt8]? { isWhole ? nil : try next() }

  /// Whether it is a picture that browsers show by the name of `path`.
  func image(at path: String) -> Bool {
    guard ImageHeader.isShown(path: path), size <= ImageHeader.maximumSize,
      let header = ImageHeader(bytes)
    else { return false }
    return header.hasFewPixels
  }

  /// Whether it may be JSON, by its first character.
  var mayBeJSON: Bool {
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    let first = start.first { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }
    return first.map { "{[\"-0123456789tfn".utf8.contains($0) } ?? false
  }

  /// Whether it is said to be JSON by its first character: no other text begins so.
  var claimsJSON: Bool {
    bytes.first { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 }.map { $0 == 0x7B || $0 == 0x5B }
      ?? false
  }

  /// Whether it is text, or nearly: no NUL, and next to no byte that is no UTF-8.
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
