/// The local and central header of an entry to be written.
struct EntryHeader {
  /// The “version made by” field: Unix, so that the external attributes contain a Unix mode, and version 4.5 of the
  /// format.
  static let madeBy: UInt16 = 3 << 8 | 45
  /// Midnight of 1 January 1980, the earliest time that the format can represent. A constant makes archives
  /// reproducible.
  private static let time: UInt32 = 0x0021_0000

  let name: String
  /// The properties of the data. Set them before writing the headers.
  var encoded: EntryEncoder.Encoded
  /// Whether the file is executable after unpacking.
  var isExecutable = false

  private let offset: Int64
  private let threshold: Int64

  /// - Parameter size: The length of the contents in bytes.
  init(_ name: String, offset: Int64, size: Int64, _ thresholds: ZipWriter.Thresholds) {
    self.name = name
    self.offset = offset
    threshold = thresholds.size
    encoded = .init(method: 0, crc32: 0, size: size, compressedSize: size)
  }

  /// The length of the local header. It does not depend on the data unless that is longer than the contents.
  var localLength: Int64 { Int64(LocalHeader.length + name.utf8.count + (isWide ? 20 : 0)) }

  /// The local header. If it has a ZIP64 field, that must contain both sizes (APPNOTE 4.5.3).
  var local: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: Signature.localHeader)
    appendCommon(to: &bytes, isWide, isWide, extraLength: isWide ? 20 : 0)
    bytes += name.utf8
    if isWide { appendZip64([encoded.size, encoded.compressedSize], to: &bytes) }
    return bytes
  }

  /// The central header.
  var central: [UInt8] {
    let wide = [encoded.size, encoded.compressedSize, offset].filter { $0 >= threshold }
    let isFolder = name.utf8.last == UInt8(ascii: "/")
    var bytes: [UInt8] = []
    bytes.append(littleEndian: Signature.centralHeader)
    bytes.append(littleEndian: Self.madeBy)
    appendCommon(
      to: &bytes, encoded.size >= threshold, encoded.compressedSize >= threshold,
      extraLength: wide.isEmpty ? 0 : UInt16(4 + 8 * wide.count))
    // No comment, the first disk, and no internal attributes.
    bytes.append(contentsOf: [0, 0, 0, 0, 0, 0])
    let attributes: UInt32 = isFolder ? 0o040755 << 16 | 0x10 : (isExecutable ? 0o100755 : 0o100644) << 16
    bytes.append(littleEndian: attributes)
    bytes.append(littleEndian: offset >= threshold ? .max : UInt32(offset))
    bytes += name.utf8
    if !wide.isEmpty { appendZip64(wide, to: &bytes) }
    return bytes
  }

  /// Whether one of the sizes needs the fields of ZIP64. The writer's data is never longer than the contents, so only
  /// an entry that is copied from another archive can have a wide compressed size alone.
  private var isWide: Bool { max(encoded.size, encoded.compressedSize) >= threshold }

  private func appendCommon(
    to bytes: inout [UInt8], _ isSizeWide: Bool, _ isCompressedSizeWide: Bool, extraLength: UInt16
  ) {
    bytes.append(littleEndian: UInt16(extraLength > 0 ? 45 : 20))
    bytes.append(littleEndian: Flag.utf8)
    bytes.append(littleEndian: encoded.method)
    bytes.append(littleEndian: Self.time)
    bytes.append(littleEndian: encoded.crc32)
    bytes.append(littleEndian: isCompressedSizeWide ? .max : UInt32(encoded.compressedSize))
    bytes.append(littleEndian: isSizeWide ? .max : UInt32(encoded.size))
    bytes.append(littleEndian: UInt16(name.utf8.count))
    bytes.append(littleEndian: extraLength)
  }

  private func appendZip64(_ numbers: [Int64], to bytes: inout [UInt8]) {
    bytes.append(littleEndian: UInt16(1))
    bytes.append(littleEndian: UInt16(8 * numbers.count))
    for number in numbers { bytes.append(littleEndian: number) }
  }
}
