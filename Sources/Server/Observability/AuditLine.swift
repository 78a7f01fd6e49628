import Foundation
import JSONText
import SystemIO

/// A JSON object as it is put together (RFC 8259), on one line: most requests have one, so its bytes are appended to bytes.
struct AuditLine {
  /// What there is of it.
  private(set) var bytes: [UInt8]

  init() {
    bytes = [UInt8(ascii: "{")]
    bytes.reserveCapacity(384)
  }

  /// Appends a member, unless it has no value.
  mutating func append(_ key: String, _ value: String?) {
    guard let value else { return }
    append(key)
    JSONString.append(value, to: &bytes)
  }

  /// Appends a member whose value is a time.
  mutating func append(_ key: String, _ value: Date) {
    append(key)
    bytes.append(UInt8(ascii: "\""))
    UTCTime(secondsSince1970: value.timeIntervalSince1970).append(to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Appends a member whose value is a number, or `true`.
  mutating func append(_ key: String, literal: String) {
    append(key)
    bytes.append(contentsOf: literal.utf8)
  }

  /// Ends the object and the line.
  mutating func end() { bytes.append(contentsOf: "}\n".utf8) }

  private mutating func append(_ key: String) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: key.utf8)
    bytes.append(contentsOf: "\":".utf8)
  }
}
