package import SystemIO

/// A file to which an archive is written, through a buffer.
package final class ArchiveOutput {
  private static let bufferSize = 1 << 18
  private let file: File
  private var buffer: [UInt8] = []
  private var offset: Int64 = 0

  package init(_ file: File) { self.file = file }

  package func write(_ bytes: [UInt8]) throws {
    buffer += bytes
    if buffer.count >= Self.bufferSize { try flush() }
  }

  /// Writes what is in the buffer. Call it at the end.
  package func flush() throws {
    try file.write(buffer, at: offset)
    offset += Int64(buffer.count)
    buffer = []
  }
}
