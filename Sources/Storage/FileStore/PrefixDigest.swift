import Crypto
import Foundation
import SnapshotFormat
import SystemIO

/// The SHA-256 digest of a file's first bytes. It is updated as the file grows, and reads bytes that it has missed.
struct PrefixDigest {
  private static let pieceSize = 256 << 10
  /// The number of bytes read at once while other work waits for the same thread.
  static let sliceSize: Int64 = 8 << 20

  private var hash = SHA256()
  /// The number of bytes that are hashed.
  private(set) var count: Int64 = 0

  /// Hashes bytes that were written at `offset`. If bytes before them are not hashed yet, it reads a limited number of
  /// those instead: enough to catch up over time, and few enough to delay the writer only a little.
  mutating func take(_ bytes: IOBuffer, at offset: Int64, of file: File) throws(SystemError) {
    if count == offset {
      unsafe bytes.withUnsafeBytes { unsafe hash.update(bufferPointer: $0) }
      count += Int64(bytes.count)
    } else {
      try catchUp(to: min(offset + Int64(bytes.count), count + 4 * Int64(bytes.count)), of: file)
    }
  }

  /// Reads and hashes `file` up to `end`.
  mutating func catchUp(to end: Int64, of file: File) throws(SystemError) {
    while count < end {
      let bytes = try file.read(upTo: Int(min(Int64(Self.pieceSize), end - count)), at: count)
      guard !bytes.isEmpty else {
        throw SystemError(operation: "read", path: file.path, code: POSIXErrorCode.EIO.rawValue)
      }
      hash.update(data: bytes)
      count += Int64(bytes.count)
    }
  }

  /// The digest of all bytes hashed so far.
  var value: ContentDigest { ContentDigest(hash.finalize()) }
}
