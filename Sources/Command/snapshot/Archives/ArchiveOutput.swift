import HTTPArchive
import SystemIO

/// A file to which an archive is written, through a buffer.
final class ArchiveOutput {
  /// What creates an archive that does not say it.
  static let creator = ArchiveValue.object([
    .init("name", ArchiveValue("snapshot")), .init("version", ArchiveValue(ProductVersion.current)),
  ])

  private static let bufferSize = 1 << 18
  private let file: File
  private var buffer: [UInt8] = []
  private var offset: Int64 = 0

  init(_ file: File) { self.file = file }

  func write(_ bytes: [UInt8]) throws {
    buffer += bytes
    if buffer.count >= Self.bufferSize { try flush() }
  }

  func flush() throws {
    try file.write(buffer, at: offset)
    offset += Int64(buffer.count)
    buffer = []
  }
}
