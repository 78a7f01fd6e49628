/// What bytes are, by how they begin.
enum Contents {
  static let gzip: [UInt8] = [0x1F, 0x8B, 0x08]
  static let propertyList = Array("bplist00".utf8)

  /// Whether the bytes begin like a format that can be searched, apart from text.
  static func isKnown(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: propertyList) || bytes.starts(with: gzip)
  }

  /// Whether the bytes are UTF-8 without control characters other than white space.
  static func isText(_ bytes: [UInt8]) -> Bool {
    String(validating: bytes, as: UTF8.self) != nil
      && !bytes.contains { $0 < 0x20 && !(0x09...0x0D ~= $0) && $0 != 0x1B && $0 != 0x1E }
  }
}
