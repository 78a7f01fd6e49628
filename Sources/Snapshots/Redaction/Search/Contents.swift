import JSONText

/// What bytes are, by how they begin.
enum Contents {
  case text
  /// gzip or zlib.
  case compressed
  case propertyList
  /// Pictures, sound, video and fonts, which have no names and values.
  case media
  case binary

  init(_ bytes: [UInt8]) {
    if bytes.starts(with: Self.gzip) {
      self = .compressed
    } else if bytes.starts(with: Self.propertyListMark) {
      self = .propertyList
    } else if Self.isText(bytes) {
      self = .text
    } else if Self.isZlib(bytes) {
      self = .compressed
    } else {
      self = Self.isMedia(bytes) ? .media : .binary
    }
  }

  private static let gzip: [UInt8] = [0x1F, 0x8B, 0x08]
  private static let propertyListMark = Array("bplist00".utf8)

  /// Whether data with these first three bytes may be of a format that can be searched, apart from text.
  static func isKnown(start: UInt32) -> Bool {
    // `bpl` is text too.
    start == 0x1F8B08 || start >> 16 == 0x78 && (start >> 8).isMultiple(of: 31)
  }

  private static func isZlib(_ bytes: [UInt8]) -> Bool {
    bytes.count > 2 && bytes[0] == 0x78 && (UInt(bytes[0]) << 8 | UInt(bytes[1])).isMultiple(of: 31)
  }

  /// Whether the bytes are text in UTF-8 or UTF-16, or in an older encoding without control characters.
  private static func isText(_ bytes: [UInt8]) -> Bool {
    if TextEncoding.isUTF16(bytes) { return true }
    guard let last = bytes.lastIndex(where: { $0 != 0 }) else { return false }
    var index = JSONRun.nextControl(bytes, from: 0)
    while index <= last {
      if isBinary(bytes[index]) { return false }
      index = JSONRun.nextControl(bytes, from: index + 1)
    }
    return !isMedia(bytes) || String(validating: bytes, as: UTF8.self) != nil
  }

  /// Whether the control character occurs only in binary data. White space, and the separators and escapes of logs are
  /// text.
  private static func isBinary(_ byte: UInt8) -> Bool {
    !(0x08...0x0D ~= byte) && byte != 0x1B && byte != 0x1E
  }

  /// The first bytes of media, and where they are.
  private static let mediaMarks: [(offset: Int, bytes: [UInt8])] =
    [
      (0, [0xFF, 0xD8, 0xFF]), (0, [0x89, 0x50, 0x4E, 0x47]), (0, [0x49, 0x49, 0x2A, 0x00]),
      (0, [0x4D, 0x4D, 0x00, 0x2A]), (0, [0x00, 0x00, 0x01, 0x00]), (0, [0x1A, 0x45, 0xDF, 0xA3]),
      (0, [0xFF, 0x0A]), (0, [0xFF, 0xFB]), (0, [0xFF, 0xF3]), (0, [0xFF, 0xF1]), (0, [0xFF, 0xF9]),
      (0, [0x00, 0x01, 0x00, 0x00]),
    ]
    + [("GIF8", 0), ("RIFF", 0), ("ftyp", 4), ("ID3", 0), ("OggS", 0), ("fLaC", 0), ("caff", 0)].map(mark)
    + [("wOFF", 0), ("wOF2", 0), ("OTTO", 0), ("JXL ", 4)].map(mark)

  private static func mark(_ word: String, _ offset: Int) -> (Int, [UInt8]) { (offset, Array(word.utf8)) }

  private static func isMedia(_ bytes: [UInt8]) -> Bool {
    mediaMarks.contains { bytes.dropFirst($0.offset).starts(with: $0.bytes) }
  }
}
