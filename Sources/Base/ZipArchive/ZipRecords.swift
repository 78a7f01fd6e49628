#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The signatures of the records in a ZIP archive (APPNOTE 4.3). The types below represent these records and do not
/// validate their contents.
enum Signature {
  static let localHeader: UInt32 = 0x0403_4B50
  static let descriptor: UInt32 = 0x0807_4B50
  static let centralHeader: UInt32 = 0x0201_4B50
  static let end64: UInt32 = 0x0606_4B50
  static let locator64: UInt32 = 0x0706_4B50
  static let end: UInt32 = 0x0605_4B50
}

/// The bits of the general purpose flag (APPNOTE 4.4.4).
enum Flag {
  static let encrypted: UInt16 = 1 << 0
  static let descriptor: UInt16 = 1 << 3
  static let patched: UInt16 = 1 << 5
  static let stronglyEncrypted: UInt16 = 1 << 6
  static let utf8: UInt16 = 1 << 11
  static let maskedHeaders: UInt16 = 1 << 13

  /// The bits that affect how an entry is read. They must be the same in the local header, because some readers use
  /// only that.
  static let decisive = encrypted | descriptor | patched | stronglyEncrypted | utf8 | maskedHeaders
  static let anyEncryption = encrypted | stronglyEncrypted | maskedHeaders
}

/// The fields that the central and the local header of an entry have in common.
struct CommonHeader {
  var versionNeeded: UInt16
  var flags: UInt16
  var method: UInt16
  /// DOS time in the lower half, DOS date in the upper half.
  var time: UInt32
  var crc32: UInt32
  var compressedSize: UInt32
  var size: UInt32
  var nameLength: UInt16
  var extraLength: UInt16

  static let length = 26

  /// Parses the ``length`` bytes at `index`.
  init(_ bytes: [UInt8], at index: Int) {
    versionNeeded = bytes.u16(index)
    flags = bytes.u16(index + 2)
    method = bytes.u16(index + 4)
    time = bytes.u32(index + 6)
    crc32 = bytes.u32(index + 10)
    compressedSize = bytes.u32(index + 14)
    size = bytes.u32(index + 18)
    nameLength = bytes.u16(index + 22)
    extraLength = bytes.u16(index + 24)
  }
}

/// The fixed part of a local header (APPNOTE 4.3.7).
struct LocalHeader {
  var common: CommonHeader

  static let length = 30

  init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.length, bytes.u32(0) == Signature.localHeader else { return nil }
    common = CommonHeader(bytes, at: 4)
  }
}

/// The fixed part of a central header (APPNOTE 4.3.12).
struct CentralHeader {
  /// The system on which the entry was made. It determines the meaning of names and attributes.
  var system: UInt8
  var common: CommonHeader
  var commentLength: UInt16
  var disk: UInt16
  var externalAttributes: UInt32
  var offset: UInt32

  static let length = 46

  /// Whether the entry was made on Unix or Darwin, where names are bytes in any encoding.
  var isUnix: Bool { system == 3 || system == 19 }

  /// Parses the ``length`` bytes at `index`, which must exist.
  init?(_ bytes: [UInt8], at index: Int) {
    guard bytes.u32(index) == Signature.centralHeader else { return nil }
    system = bytes[index + 5]
    common = CommonHeader(bytes, at: index + 6)
    commentLength = bytes.u16(index + 32)
    disk = bytes.u16(index + 34)
    externalAttributes = bytes.u32(index + 38)
    offset = bytes.u32(index + 42)
  }

  /// Reads the next header; `nil` if there is none.
  static func next(in window: inout FileWindow) throws(ZipError) -> CentralHeader? {
    guard let header = try window.take(length, { CentralHeader($0, at: $1) }) else { return nil }
    return header
  }
}

/// The end of central directory record (APPNOTE 4.3.16), or the ZIP64 one (4.3.14) with the same fields.
struct EndRecord {
  var disk: UInt32
  var directoryDisk: UInt32
  var entriesHere: UInt64
  var entries: UInt64
  var directorySize: UInt64
  var directoryOffset: UInt64

  static let length = 22
  static let length64 = 56

  /// Parses the plain record at `index`, whose ``length`` bytes must exist.
  init(_ bytes: [UInt8], at index: Int) {
    disk = UInt32(bytes.u16(index + 4))
    directoryDisk = UInt32(bytes.u16(index + 6))
    entriesHere = UInt64(bytes.u16(index + 8))
    entries = UInt64(bytes.u16(index + 10))
    directorySize = UInt64(bytes.u32(index + 12))
    directoryOffset = UInt64(bytes.u32(index + 16))
  }

  /// Parses a ZIP64 record of version 1, which has exactly ``length64`` bytes.
  init?(zip64 bytes: [UInt8]) {
    guard bytes.count >= Self.length64, bytes.u32(0) == Signature.end64,
      bytes.u64(4) == UInt64(Self.length64 - 12)
    else { return nil }
    disk = bytes.u32(16)
    directoryDisk = bytes.u32(20)
    entriesHere = bytes.u64(24)
    entries = bytes.u64(32)
    directorySize = bytes.u64(40)
    directoryOffset = bytes.u64(48)
  }

  /// Whether a field has the maximum value, which refers to the ZIP64 record.
  var needsZip64: Bool {
    disk == 0xFFFF || directoryDisk == 0xFFFF || entriesHere == 0xFFFF || entries == 0xFFFF
      || directorySize == 0xFFFF_FFFF || directoryOffset == 0xFFFF_FFFF
  }

  /// Whether each field of this plain record is equal to that of the ZIP64 record or refers to it.
  func agrees(with other: EndRecord) -> Bool {
    (disk == other.disk || disk == 0xFFFF)
      && (directoryDisk == other.directoryDisk || directoryDisk == 0xFFFF)
      && (entriesHere == other.entriesHere || entriesHere == 0xFFFF)
      && (entries == other.entries || entries == 0xFFFF)
      && (directorySize == other.directorySize || directorySize == 0xFFFF_FFFF)
      && (directoryOffset == other.directoryOffset || directoryOffset == 0xFFFF_FFFF)
  }
}

/// The locator of the ZIP64 end record (APPNOTE 4.3.15).
struct Locator64 {
  var disk: UInt32
  var offset: UInt64
  var disks: UInt32

  static let length = 20

  init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.length, bytes.u32(0) == Signature.locator64 else { return nil }
    disk = bytes.u32(4)
    offset = bytes.u64(8)
    disks = bytes.u32(16)
  }
}

/// Numbers in the byte order of ZIP, little-endian (APPNOTE 4.4.1.1).
extension [UInt8] {
  /// The number in the two bytes at `index`, which must exist.
  func u16(_ index: Int) -> UInt16 { UInt16(self[index]) | UInt16(self[index + 1]) << 8 }

  /// The number in the four bytes at `index`, which must exist.
  func u32(_ index: Int) -> UInt32 { UInt32(u16(index)) | UInt32(u16(index + 2)) << 16 }

  /// The number in the eight bytes at `index`, which must exist.
  func u64(_ index: Int) -> UInt64 { UInt64(u32(index)) | UInt64(u32(index + 4)) << 32 }

  /// Appends `number` in little-endian order.
  mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }

  /// The first index of `byte` at or after `start`.
  func index(of byte: UInt8, from start: Int) -> Int? {
    withUnsafeBytes { bytes in
      guard start < bytes.count, let base = bytes.baseAddress,
        let found = memchr(base + start, Int32(byte), bytes.count - start)
      else { return nil }
      return UnsafeRawPointer(found) - base
    }
  }
}
