import Foundation
import SnapshotFormat
import SystemIO

/// Encodes a record as the bytes of its file: JSON whose second line is the digest of all other lines, so that damage
/// is detected.
///
/// Files without that line are accepted too: those of older versions, and those written by hand.
enum RecordFile {
  /// The bytes are damaged, or are not a record.
  struct Damage: Error {}

  private static let opening = Array("{\n".utf8)
  private static let prefix = Array(#"  "checksum" : ""#.utf8)
  private static let suffix = Array("\",\n".utf8)
  private static let lineLength = prefix.count + 64 + suffix.count

  /// The bytes of the file of `record`.
  static func encode(_ record: SnapshotRecord) throws(SystemError) -> [UInt8] {
    do {
      let json = Array(try SnapshotJSON.encode(record, pretty: true))
      guard json.starts(with: opening) else { throw Damage() }
      return opening + line(of: json) + json.dropFirst(opening.count)
    } catch {
      throw SystemError(operation: "encode", code: POSIXErrorCode.EBADMSG.rawValue)
    }
  }

  /// The record in `bytes`. Throws ``Damage`` if its digest differs or it can't be decoded.
  static func decode(_ bytes: [UInt8]) throws(Damage) -> SnapshotRecord {
    let end = opening.count + lineLength
    // Damage does not change a line's length, so the length detects a digest line even if its beginning is damaged.
    let hasDigest = bytes.dropFirst(opening.count).firstIndex(of: UInt8(ascii: "\n")) == end - 1
    do {
      guard
        try hasDigest
          ? bytes[opening.count..<end] == line(of: bytes[..<opening.count] + bytes[end...])[...]
          : !SnapshotJSON.repeatsKey(bytes)
      else { throw Damage() }
      return try SnapshotJSON.decode(SnapshotRecord.self, from: Data(bytes))
    } catch {
      throw Damage()
    }
  }

  private static func line(of others: some DataProtocol) -> [UInt8] {
    prefix + Array(ContentDigest.of(others).description.utf8) + suffix
  }
}
