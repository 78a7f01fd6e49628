public import HTTPTypes
import JSONText
import RawStructuredFieldValues

/// The value of `Repr-Digest` or `Content-Digest` (RFC 9530). Reads SHA-256 and ignores other algorithms.
public struct DigestField: Sendable, Hashable {
  /// The 32 bytes of the SHA-256, if the field has one.
  public let sha256: [UInt8]?

  /// Creates a field that states `sha256`, which must have 32 bytes.
  public init(sha256: [UInt8]) { self.sha256 = sha256 }

  /// The field is not a dictionary of byte sequences, or its SHA-256 does not have 32 bytes.
  public struct Malformed: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence for the sender. It contains nothing of the field's value.
    public let description: String
  }

  /// Reads the field `name` of `fields`. Returns `nil` if it is missing.
  public init?(_ name: HTTPField.Name, in fields: HTTPFields) throws(Malformed) {
    guard let text = fields[name] else { return nil }
    do {
      sha256 = try Self.bytes(of: Self.member(of: text))
    } catch {
      throw Malformed(description: "\(name.rawName) is not of the form sha-256=:base64: (RFC 9530).")
    }
    if let sha256, sha256.count != 32 {
      throw Malformed(
        description: "The sha-256 in \(name.rawName) has \(sha256.count) bytes instead of 32.")
    }
  }

  /// The field's value; empty if there is no digest.
  public var fieldValue: String {
    sha256.map { "sha-256=:\(String(decoding: Base64.encode($0), as: UTF8.self)):" } ?? ""
  }

  /// Whether the sender of `fields` accepts a SHA-256 in `Repr-Digest`. True unless `Want-Repr-Digest` gives it the
  /// weight 0 (§4). A malformed field counts as missing.
  public static func isWanted(by fields: HTTPFields) -> Bool {
    guard let text = fields[.wantReprDigest] else { return true }
    do {
      if case .integer(0) = try member(of: text) { return false }
      return true
    } catch {
      return true
    }
  }

  private struct Unreadable: Error {}

  private static func bytes(of member: RFC9651BareItem?) throws -> [UInt8]? {
    guard let member else { return nil }
    guard case .undecodedByteSequence(let text) = member, let bytes = Base64.decode(text) else {
      throw Unreadable()
    }
    return bytes
  }

  /// Returns the member `sha-256` of the dictionary `text`, or `nil` if there is none.
  private static func member(of text: String) throws -> RFC9651BareItem? {
    var parser = StructuredFieldValueParser(Array(text.utf8))
    switch try parser.parseDictionaryFieldValue()["sha-256"] {
    case .item(let item): return item.rfc9651BareItem
    case .innerList: throw Unreadable()
    case nil: return nil
    }
  }
}
