import Foundation
import SnapshotFormat
import SystemIO

/// Writes an archive of regular files. Blocks. Not thread-safe.
struct TarWriter {
  private static let pieceBytes = 1 << 20

  private let file: File
  /// Where the next member begins.
  private(set) var offset: Int64 = 0

  /// - Parameter file: an empty file.
  init(_ file: File) { self.file = file }

  /// Adds a member with these bytes.
  mutating func add(_ name: String, _ bytes: [UInt8], modified: Int64 = 0) throws(SystemError) {
    let header = TarHeader(name: name, size: Int64(bytes.count), modified: modified)
    try begin(header)
    try file.write(bytes, at: offset + Int64(TarHeader.blockBytes))
    try end(header)
  }

  /// Adds a member with the bytes of `source`, and hashes them. If `source` is shorter than stated, or if its digest is
  /// not `expected`, nothing is added.
  /// - Returns: the digest; `nil` if nothing was added.
  @discardableResult
  mutating func add(
    _ name: String, _ source: FileSection, modified: Int64 = 0, expecting expected: ContentDigest? = nil
  ) throws(SystemError) -> ContentDigest? {
    let header = TarHeader(name: name, size: source.size, modified: modified)
    try begin(header)
    let start = offset + Int64(TarHeader.blockBytes)
    var (computation, copied) = (DigestComputation(), Int64(0))
    while copied < source.size {
      let wanted = Int(min(Int64(Self.pieceBytes), source.size - copied))
      let piece = try source.file.read(upTo: wanted, at: source.range.lowerBound + copied)
      guard !piece.isEmpty else { break }
      computation.update(piece)
      try file.write(piece, at: start + copied)
      file.beginWriting(start + copied..<start + copied + Int64(piece.count))
      copied += Int64(piece.count)
    }
    let digest = computation.digest
    guard copied == source.size, expected == nil || expected == digest else {
      try file.truncate(to: offset)
      return nil
    }
    try end(header)
    return digest
  }

  /// Ends the archive, and returns when it is durable.
  mutating func finish() throws(SystemError) {
    // Two blocks of zeros.
    try file.truncate(to: offset + 2 * Int64(TarHeader.blockBytes))
    try file.synchronize()
  }

  private func begin(_ header: TarHeader) throws(SystemError) {
    guard let bytes = header.bytes else {
      throw SystemError(operation: "archive", path: header.name, code: POSIXErrorCode.ENAMETOOLONG.rawValue)
    }
    try file.write(bytes, at: offset)
  }

  private mutating func end(_ header: TarHeader) throws(SystemError) {
    offset += Int64(TarHeader.blockBytes) + header.paddedSize
    // The padding.
    try file.truncate(to: offset)
  }
}
