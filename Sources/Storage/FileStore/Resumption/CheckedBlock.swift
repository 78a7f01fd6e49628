import Foundation
import SnapshotFormat

/// A value as bytes that show whether they are all there: a length, the digest of what follows, and JSON.
enum CheckedBlock {
  private static let headLength = 4 + 32

  /// The bytes of `value`.
  static func encode(_ value: some Encodable) throws -> [UInt8] {
    let json = Array(try SnapshotJSON.encode(value))
    let length = UInt32(json.count)
    let digits = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: length >> UInt32($0)) }
    return digits + ContentDigest.of(json).bytes + json
  }

  /// The value at the beginning of `bytes`; `nil` where they are not what was written.
  static func decode<Value: Decodable>(_ type: Value.Type, from bytes: some Collection<UInt8>) -> Value? {
    let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    let rest = bytes.dropFirst(headLength)
    guard bytes.count >= headLength, rest.count >= length else { return nil }
    let json = Data(rest.prefix(length))
    guard ContentDigest.of(json).bytes.elementsEqual(bytes.dropFirst(4).prefix(32)) else { return nil }
    // What was written whole by another version may say something else.
    do { return try SnapshotJSON.decode(type, from: json) } catch { return nil }
  }
}
