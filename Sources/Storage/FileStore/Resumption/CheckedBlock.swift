import Foundation
import SnapshotFormat

/// Encodes a value so that missing or damaged bytes are detected: a length, the SHA-256 digest of the JSON, and the
/// JSON.
enum CheckedBlock {
  private static let headLength = 4 + 32

  /// The bytes of `value`.
  static func encode(_ value: some Encodable) throws -> [UInt8] {
    let json = Array(try SnapshotJSON.encode(value))
    let length = UInt32(json.count)
    let digits = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: length >> UInt32($0)) }
    return digits + ContentDigest.of(json).bytes + json
  }

  /// The value at the beginning of `bytes`; `nil` if they are incomplete or damaged.
  static func decode<Value: Decodable>(_ type: Value.Type, from bytes: some Collection<UInt8>) -> Value? {
    let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    let rest = bytes.dropFirst(headLength)
    guard bytes.count >= headLength, rest.count >= length else { return nil }
    let json = Data(rest.prefix(length))
    guard ContentDigest.of(json).bytes.elementsEqual(bytes.dropFirst(4).prefix(32)) else { return nil }
    // A block that is intact can still come from another version and have other fields.
    do { return try SnapshotJSON.decode(type, from: json) } catch { return nil }
  }
}
