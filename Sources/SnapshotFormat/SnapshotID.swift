public import Foundation

/// The UUID that names one snapshot, attached to a bug report (RFC 9562).
///
/// Its text is always the canonical lower-case form, 36 characters; capitals are accepted when it is read.
public struct SnapshotID: Hashable, Sendable, LosslessStringConvertible, Comparable {
  private let uuid: UUID

  /// A fresh random identifier (version 4).
  public init() { uuid = UUID() }

  /// The identifier that `text` spells, or `nil` unless it is 8-4-4-4-12 hexadecimal digits.
  public init?(_ text: String) {
    // Foundation's reader alone would take signs, spaces and ‘0x’ for digits.
    let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard groups.map(\.count) == [8, 4, 4, 4, 12],
      groups.joined().allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
      let uuid = UUID(uuidString: text)
    else { return nil }
    self.uuid = uuid
  }

  /// The identifier as Foundation's type.
  public init(_ uuid: UUID) { self.uuid = uuid }

  /// The identifier of exactly 16 bytes, else `nil`.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    let b = Array(bytes)
    uuid = UUID(
      uuid: (
        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
      ))
  }

  /// The 16 bytes, whose order is that of the text.
  public var bytes: [UInt8] {
    let u = uuid.uuid
    return [
      u.0, u.1, u.2, u.3, u.4, u.5, u.6, u.7, u.8, u.9, u.10, u.11, u.12, u.13, u.14, u.15,
    ]
  }

  /// The canonical text, in lower case.
  public var description: String { uuid.uuidString.lowercased() }

  /// By canonical text.
  public static func < (left: Self, right: Self) -> Bool { left.uuid < right.uuid }
}

extension SnapshotID: Codable {
  /// Reads the text form; anything else is a `DecodingError` that says so.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let id = SnapshotID(text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "‘\(text)’ is not a UUID"))
    }
    self = id
  }

  /// Writes the canonical text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
