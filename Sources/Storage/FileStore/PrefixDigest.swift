import Crypto
import Foundation
import SnapshotFormat
import SystemIO

/// The digest of a file's beginning, which goes on as the file grows, and catches up where it was not told.
struct PrefixDigest {
  private static let pieceSize = 256 << 10
  /// How much is read at once where others wait for the same thread.
  static let sliceSize: Int64 = 8 << 20

  private var hash = SHA256()
  /// Of how many bytes it is.
  private(set) var count: Int64 = 0

  /// Takes bytes that were written at `offset`. Where those before them are not in it yet, it reads as many of them as
  /// keep a writer up for hardly longer, so that little is left to be read in the end.
  mutating func take(_ bytes: IOBuffer, at offset: Int64, of file: File) throws(SystemError) {
    if count == offset {
      unsafe bytes.withUnsafeBytes { unsafe hash.update(bufferPointer: $0) }
      count += Int64(bytes.count)
    } else {
      try catchUp(to: min(offset + Int64(bytes.count), count + 4 * Int64(bytes.count)), of: file)
    }
  }

  /// Reads `file` up to `end`.
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

  /// The digest of what it took.
  var value: ContentDigest { ContentDigest(hash.finalize()) }
}
