public import Foundation
import JSONText

/// The UUID that identifies a snapshot (RFC 9562).
///
/// The text form is always lower case, with 36 characters. Upper case is accepted when parsing.
public struct SnapshotID: Hashable, Sendable, LosslessStringConvertible, Comparable {
  /// The bytes in order, most significant first.
  private let high, low: UInt64

  /// Creates a random identifier (version 4).
  public init() {
    // Foundation's UUID opens a device file for each one.
    var generator = SystemRandomNumberGenerator()
    high = generator.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
    low = generator.next() >> 2 | 1 << 63
  }

  /// Parses 8-4-4-4-12 hexadecimal digits; `nil` for any other text.
  public init?(_ text: String) {
    // Foundation's parser also accepts signs, spaces and ‘0x’.
    var text = text
    guard let words = unsafe text.withUTF8(Self.words) else { return nil }
    (high, low) = words
  }

  private static func words(of text: UnsafeBufferPointer<UInt8>) -> (high: UInt64, low: UInt64)? {
    guard text.count == length else { return nil }
    var words: (high: UInt64, low: UInt64) = (0, 0)
    for position in 0..<length {
      let byte = unsafe text[position]
      if isHyphen(position) {
        guard byte == UInt8(ascii: "-") else { return nil }
      } else {
        guard let digit = Hexadecimal.value(byte) else { return nil }
        words.high = words.high << 4 | words.low >> 60
        words.low = words.low << 4 | UInt64(digit)
      }
    }
    return words
  }

  /// Creates an identifier from Foundation's type.
  public init(_ uuid: UUID) {
    func word(_ bytes: UInt8...) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    let bytes = uuid.uuid
    high = word(bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5, bytes.6, bytes.7)
    low = word(bytes.8, bytes.9, bytes.10, bytes.11, bytes.12, bytes.13, bytes.14, bytes.15)
  }

  /// Creates an identifier from 16 bytes; `nil` for any other number of bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    // Loops over a collection whose type is not known to the compiler take ten times as long.
    let bytes = Array(bytes)
    high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The 16 bytes, in the order of the text.
  public var bytes: [UInt8] {
    [high, low].flatMap { word in
      stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
    }
  }

  /// The canonical text, in lower case.
  public var description: String {
    unsafe String(unsafeUninitializedCapacity: Self.length) { text in
      unsafe write(to: text)
      return Self.length
    }
  }

  /// Appends ``description`` in UTF-8.
  package func append(to text: inout [UInt8]) {
    // Faster than appending each character to the array.
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.length) { characters in
      unsafe write(to: characters)
      unsafe text.append(contentsOf: characters)
    }
  }

  private func write(to text: UnsafeMutableBufferPointer<UInt8>) {
    var rest = (high: high, low: low)
    for position in 0..<Self.length {
      if Self.isHyphen(position) {
        unsafe text[position] = UInt8(ascii: "-")
      } else {
        unsafe text[position] = Hexadecimal.digit(UInt8(truncatingIfNeeded: rest.high >> 60))
        rest.high = rest.high << 4 | rest.low >> 60
        rest.low <<= 4
      }
    }
  }

  /// Compares the text forms.
  public static func < (left: Self, right: Self) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }

  private static let length = 36

  private static func isHyphen(_ position: Int) -> Bool {
    position == 8 || position == 13 || position == 18 || position == 23
  }
}

extension SnapshotID: Codable {
  /// Decodes the text form. Throws a `DecodingError` for anything else.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let id = SnapshotID(text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "‘\(text)’ is not a UUID"))
    }
    self = id
  }

  /// Encodes the text form.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
