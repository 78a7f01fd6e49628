public import HTTPTypes
import RawStructuredFieldValues

/// What `Repr-Digest` and `Content-Digest` say (RFC 9530): SHA-256 is read, other algorithms are ignored.
public struct DigestField: Sendable, Hashable {
  /// The 32 bytes of the SHA-256, where the field has one.
  public let sha256: [UInt8]?

  /// A field that states `sha256`, 32 bytes.
  public init(sha256: [UInt8]) { self.sha256 = sha256 }

  /// A field that is no dictionary of byte sequences, or whose SHA-256 has not 32 bytes.
  public struct Malformed: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence for whoever sent it; nothing of the field's value is in it.
    public let description: String
  }

  /// Reads the field `name` of `fields`; `nil` where there is none.
  public init?(_ name: HTTPField.Name, in fields: HTTPFields) throws(Malformed) {
    guard let text = fields[name] else { return nil }
    do {
      sha256 = try Self.bytes(of: Self.member(of: text))
    } catch {
      throw Malformed(description: "\(name.rawName) is not as in RFC 9530: sha-256=:base64 of the digest:.")
    }
    if let sha256, sha256.count != 32 {
      throw Malformed(
        description: "The sha-256 in \(name.rawName) has \(sha256.count) bytes instead of 32.")
    }
  }

  /// The field's value; empty where nothing is stated.
  public var fieldValue: String {
    sha256.map { "sha-256=:\(Base64.encode($0)):" } ?? ""
  }

  /// Whether the sender of `fields` would take a SHA-256 in `Repr-Digest`: all but those whose `Want-Repr-Digest`
  /// gives it no weight (§4). One that can't be read counts as not sent.
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

  /// What the dictionary `text` has under `sha-256`; `nil` where it has nothing there.
  private static func member(of text: String) throws -> RFC9651BareItem? {
    var parser = StructuredFieldValueParser(Array(text.utf8))
    switch try parser.parseDictionaryFieldValue()["sha-256"] {
    case .item(let item): return item.rfc9651BareItem
    case .innerList: throw Unreadable()
    case nil: return nil
    }
  }
}
