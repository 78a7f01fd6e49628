import SystemIO
import TestSupport
import ZipArchive

/// Builds valid and invalid archives byte by byte. Every field of every record can be set to any value.
struct ArchiveBuilder {
  /// An entry. Fields that are not set are derived from the others.
  struct Entry {
    var name: [UInt8]
    var data: [UInt8] = []
    var method: UInt16 = 0
    var flags: UInt16 = 0x0800
    var version: UInt16 = 20
    var madeBy: UInt16 = 3 << 8 | 20
    var time: UInt32 = 0x0021_0000
    var crc: UInt32
    var size: UInt32
    var compressedSize: UInt32
    var attributes: UInt32 = 0o100644 << 16
    var disk: UInt16 = 0
    var centralExtra: [UInt8] = []
    var localExtra: [UInt8] = []
    var comment: [UInt8] = []
    /// The offset in the directory, if it differs from the actual one.
    var offset: UInt32?
    /// Bytes before the local header.
    var gap: [UInt8] = []
    /// Bytes after the data.
    var descriptor: [UInt8] = []
    /// The fields of the local header, if they differ from the directory.
    var local = Local()

    struct Local {
      var signature: UInt32 = 0x0403_4B50
      var name: [UInt8]?
      var method: UInt16?
      var flags: UInt16?
      var time: UInt32?
      var crc: UInt32?
      var size: UInt32?
      var compressedSize: UInt32?
    }

    init(_ name: String, _ data: [UInt8] = Array("contents".utf8)) {
      self.init(raw: Array(name.utf8), data)
    }

    init(raw name: [UInt8], _ data: [UInt8] = Array("contents".utf8)) {
      self.name = name
      self.data = data
      crc = ArchiveBuilder.crc32(data)
      size = UInt32(data.count)
      compressedSize = UInt32(data.count)
    }

    func with(_ change: (inout Entry) -> Void) -> Entry {
      var copy = self
      change(&copy)
      return copy
    }
  }

  var entries: [Entry] = []
  var leading: [UInt8] = []
  var beforeDirectory: [UInt8] = []
  var afterDirectory: [UInt8] = []
  var comment: [UInt8] = []
  var trailing: [UInt8] = []
  var commentLength: UInt16?
  var count: UInt16?
  var countHere: UInt16?
  var disk: UInt16 = 0
  var directorySize: UInt32?
  var directoryOffset: UInt32?

  init(_ entries: Entry...) { self.entries = entries }

  func with(_ change: (inout ArchiveBuilder) -> Void) -> ArchiveBuilder {
    var copy = self
    change(&copy)
    return copy
  }

  /// The bytes of the archive.
  var bytes: [UInt8] {
    var body: [UInt8] = []
    var directory: [UInt8] = []
    for entry in entries {
      body += entry.gap
      let offset = UInt32(body.count)
      let local = entry.local
      let localName = local.name ?? entry.name
      body += Self.le(local.signature) + Self.le(entry.version) + Self.le(local.flags ?? entry.flags)
      body += Self.le(local.method ?? entry.method) + Self.le(local.time ?? entry.time)
      body += Self.le(local.crc ?? entry.crc) + Self.le(local.compressedSize ?? entry.compressedSize)
      body += Self.le(local.size ?? entry.size) + Self.le(UInt16(localName.count))
      body += Self.le(UInt16(entry.localExtra.count)) + localName + entry.localExtra
      body += entry.data + entry.descriptor

      directory += Self.le(UInt32(0x0201_4B50)) + Self.le(entry.madeBy) + Self.le(entry.version)
      directory += Self.le(entry.flags) + Self.le(entry.method) + Self.le(entry.time) + Self.le(entry.crc)
      directory += Self.le(entry.compressedSize) + Self.le(entry.size) + Self.le(UInt16(entry.name.count))
      directory += Self.le(UInt16(entry.centralExtra.count)) + Self.le(UInt16(entry.comment.count))
      directory += Self.le(entry.disk) + Self.le(UInt16(0)) + Self.le(entry.attributes)
      directory += Self.le(entry.offset ?? offset) + entry.name + entry.centralExtra + entry.comment
    }
    body += beforeDirectory
    var end = Self.le(UInt32(0x0605_4B50)) + Self.le(disk) + Self.le(UInt16(0))
    end += Self.le(countHere ?? count ?? UInt16(entries.count)) + Self.le(count ?? UInt16(entries.count))
    end += Self.le(directorySize ?? UInt32(directory.count))
    end += Self.le(directoryOffset ?? UInt32(body.count))
    end += Self.le(commentLength ?? UInt16(comment.count)) + comment
    return leading + body + directory + afterDirectory + end + trailing
  }

  /// A ZIP64 end record and its locator.
  static func zip64End(
    entries: UInt64, size: UInt64, offset: UInt64, at position: UInt64, recordSize: UInt64 = 44,
    disks: UInt32 = 1
  ) -> [UInt8] {
    var bytes = le(UInt32(0x0606_4B50)) + le(recordSize)
    bytes += le(UInt16(45)) + le(UInt16(45)) + le(UInt64(0))
    for number in [entries, entries, size, offset] { bytes += le(number) }
    bytes += le(UInt32(0x0706_4B50)) + le(UInt32(0))
    return bytes + le(position) + le(disks)
  }

  /// An extra field.
  static func extra(_ id: UInt16, _ data: [UInt8]) -> [UInt8] { le(id) + le(UInt16(data.count)) + data }

  /// A Unicode path field.
  static func unicodePath(_ name: String, for raw: [UInt8]) -> [UInt8] {
    extra(0x7075, [1] + le(crc32(raw)) + Array(name.utf8))
  }

  /// A data descriptor.
  static func descriptor(
    crc: UInt32, compressedSize: Int, size: Int, signed: Bool = true, wide: Bool = false
  ) -> [UInt8] {
    let sizes =
      wide ? le(UInt64(compressedSize)) + le(UInt64(size)) : le(UInt32(compressedSize)) + le(UInt32(size))
    return (signed ? le(UInt32(0x0807_4B50)) : []) + le(crc) + sizes
  }

  static func le(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
  }

  /// CRC-32 bit by bit, directly from its definition.
  static func crc32(_ bytes: [UInt8]) -> UInt32 {
    var crc = UInt32.max
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : (crc >> 1) ^ 0xEDB8_8320 }
    }
    return ~crc
  }
}

extension ArchiveBuilder {
  /// The correct ZIP64 end record for an archive with one entry that has a one-letter name.
  var zip64End: [UInt8] { Self.zip64End(entries: 1, size: 47, offset: 39, at: 86) }
}

extension ArchiveBuilder.Entry {
  /// An entry with a data descriptor after its data.
  static func streamed(_ name: String, signed: Bool, wide: Bool) -> Self {
    Self(name).with {
      $0.flags |= 8
      $0.local.crc = 0
      $0.local.size = 0
      $0.local.compressedSize = 0
      $0.descriptor = ArchiveBuilder.descriptor(
        crc: $0.crc, compressedSize: 8, size: 8, signed: signed, wide: wide)
    }
  }
}

/// Opens `bytes` as an archive in a separate file.
func open(
  _ bytes: [UInt8], limits: ZipLimits = .default, profile: ZipProfile = .lenient, in folder: TemporaryFolder
) throws -> ZipReader {
  let path = folder.path + "/\(UInt64.random(in: 0 ... .max)).zip"
  let file = try File(path, .create(mode: 0o600))
  try file.write(bytes, at: 0)
  return try ZipReader(file, limits: limits, profile: profile)
}

/// The error when opening `bytes` as an archive or reading all of it; `nil` if there is none.
func refusal(
  of bytes: [UInt8], limits: ZipLimits = .default, profile: ZipProfile = .lenient, in folder: TemporaryFolder
) throws -> ZipError? {
  do {
    try open(bytes, limits: limits, profile: profile, in: folder).verify()
    return nil
  } catch let error as ZipError {
    return error
  }
}

/// The error in the archive that `builder` makes.
func refusal(
  of builder: ArchiveBuilder, limits: ZipLimits = .default, profile: ZipProfile = .lenient,
  in folder: TemporaryFolder
) throws -> ZipError? {
  try refusal(of: builder.bytes, limits: limits, profile: profile, in: folder)
}

/// Helpers for tests of rejected archives.
protocol RefusalTests {
  /// The folder for the archives.
  var folder: TemporaryFolder { get }
}

extension RefusalTests {
  typealias Entry = ArchiveBuilder.Entry

  func reason(_ builder: ArchiveBuilder) throws -> ZipError.Reason? {
    try refusal(of: builder, in: folder)?.reason
  }

  func reason(_ entries: Entry...) throws -> ZipError.Reason? {
    var builder = ArchiveBuilder()
    builder.entries = entries
    return try reason(builder)
  }

  func strictReason(_ builder: ArchiveBuilder) throws -> ZipError.Reason? {
    try refusal(of: builder, profile: .strict, in: folder)?.reason
  }

  func strictReason(_ entries: Entry...) throws -> ZipError.Reason? {
    var builder = ArchiveBuilder()
    builder.entries = entries
    return try strictReason(builder)
  }
}
