import Foundation
import JSONText
import SystemIO

/// A fast path for a recording in the usual format: numbers without signs and fractions, escape sequences only in its
/// identifier and path, each key once, and no unknown keys.
///
/// This takes a fraction of the time of reading it token by token. Recordings in any other format, and all errors, are
/// left to the general reader.
struct PlainRecording {
  private let bytes: [UInt8]
  private let textLength: Int
  private var position: Int

  /// Reads the recording that begins at `start`, and returns it with the index of its end. `nil` if it is not in the
  /// usual format or does not end in `bytes`.
  /// - Parameter textLength: The maximum number of bytes of a string.
  static func read(
    _ bytes: [UInt8], from start: Int, textLength: Int
  ) -> (element: Manifest.Recording, end: Int)? {
    var reader = PlainRecording(bytes: bytes, textLength: textLength, position: start)
    guard let recording = reader.recording() else { return nil }
    return (recording, reader.position)
  }

  private mutating func recording() -> Manifest.Recording? {
    var (identifier, path): (String?, String?)
    var (size, call): (Int?, Int?)
    var sha256: ContentDigest?
    var recordedAt: Date?
    guard take(UInt8(ascii: "{")) else { return nil }
    repeat {
      guard let key = text(), take(UInt8(ascii: ":")) else { return nil }
      let isRead =
        if spells("identifier", key) {
          Self.set(&identifier, string())
        } else if spells("path", key) {
          Self.set(&path, string())
        } else if spells("sha256", key) {
          Self.set(&sha256, text().flatMap { ContentDigest(hexadecimal: bytes[$0]) })
        } else if spells("size", key) {
          Self.set(&size, number())
        } else if spells("recordedAt", key) {
          Self.set(&recordedAt, time())
        } else if spells("call", key) {
          Self.set(&call, number())
        } else {
          false
        }
      guard isRead else { return nil }
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")), let identifier, let path, let size, let sha256, let recordedAt else {
      return nil
    }
    return Manifest.Recording(
      identifier: identifier, path: path, size: Int64(size), sha256: sha256, recordedAt: recordedAt,
      call: call)
  }

  /// Sets `value` if it is not set yet. Returns `false` if it is already set or `new` is `nil`.
  private static func set<Value>(_ value: inout Value?, _ new: Value?) -> Bool {
    guard value == nil, let new else { return false }
    value = new
    return true
  }

  /// Consumes a punctuation mark and the white space before it, if the mark is next.
  private mutating func take(_ mark: UInt8) -> Bool {
    let place = JSONRun.spaceEnd(bytes, from: position)
    guard place < bytes.count, bytes[place] == mark else { return false }
    position = place + 1
    return true
  }

  /// Consumes a string without escape sequences and returns its range. It may not be valid UTF-8.
  private mutating func text() -> Range<Int>? {
    guard take(UInt8(ascii: "\"")) else { return nil }
    let start = position
    let end = JSONRun.plainEnd(bytes, from: start)
    guard end < bytes.count, bytes[end] == UInt8(ascii: "\""), end - start <= textLength else { return nil }
    position = end + 1
    return start..<end
  }

  private mutating func string() -> String? {
    let start = JSONRun.spaceEnd(bytes, from: position)
    guard let text = text().map({ bytes[$0] }) else { return escapedString(from: start) }
    // Most strings are ASCII and need no UTF-8 validation.
    let isASCII = JSONRun.asciiEnd(bytes, from: text.startIndex) == text.endIndex
    return isASCII ? String(decoding: text, as: UTF8.self) : String(validating: text, as: UTF8.self)
  }

  /// Consumes a string with escape sequences.
  private mutating func escapedString(from start: Int) -> String? {
    guard start < bytes.count, bytes[start] == UInt8(ascii: "\"") else { return nil }
    var end = JSONRun.plainEnd(bytes, from: start + 1)
    while end < bytes.count, bytes[end] == UInt8(ascii: "\\") { end = JSONRun.plainEnd(bytes, from: end + 2) }
    guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
    var tokenizer = JSONTokenizer()
    tokenizer.feed(Array(bytes[start...end]))
    do {
      guard try tokenizer.next() == .string else { return nil }
    } catch {
      // The error is reported when the recording is read token by token.
      return nil
    }
    guard tokenizer.isUnicode, tokenizer.textLength <= textLength else { return nil }
    position = end + 1
    return String(decoding: tokenizer.text, as: UTF8.self)
  }

  private mutating func time() -> Date? {
    text().flatMap { UTCTime.milliseconds(rfc3339: bytes[$0]) }
      .map { Date(timeIntervalSince1970: Double($0) / 1000) }
  }

  /// Consumes the digits of a number. The caller checks the byte after them.
  private mutating func number() -> Int? {
    let start = JSONRun.spaceEnd(bytes, from: position)
    var (end, value) = (start, 0)
    // Numbers with 18 digits fit into an `Int`.
    while end < bytes.count, end - start < 18, case let digit = bytes[end] &- UInt8(ascii: "0"), digit < 10 {
      value = value * 10 + Int(digit)
      end += 1
    }
    // A number with several digits cannot begin with zero.
    guard end == start + 1 || end > start && bytes[start] != UInt8(ascii: "0") else { return nil }
    position = end
    return value
  }

  private func spells(_ name: StaticString, _ text: Range<Int>) -> Bool {
    guard text.count == name.utf8CodeUnitCount else { return false }
    for index in 0..<text.count where unsafe name.utf8Start[index] != bytes[text.lowerBound + index] {
      return false
    }
    return true
  }
}
