import Foundation
public import HTTPTypes
import StructuredFieldValues

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
    let wire: Wire
    do {
      wire = try StructuredFieldValueDecoder().decode(Wire.self, from: Array(text.utf8))
    } catch {
      throw Malformed(description: "\(name.rawName) is not as in RFC 9530: sha-256=:base64 of the digest:.")
    }
    sha256 = wire.sha256.map { Array($0) }
    if let sha256, sha256.count != 32 {
      throw Malformed(
        description: "The sha-256 in \(name.rawName) has \(sha256.count) bytes instead of 32.")
    }
  }

  /// The field's value; empty where nothing is stated.
  public var fieldValue: String {
    sha256.map { "sha-256=:\(Data($0).base64EncodedString()):" } ?? ""
  }

  /// Whether the sender of `fields` would take a SHA-256 in `Repr-Digest`: all but those whose `Want-Repr-Digest`
  /// gives it no weight (§4). One that can't be read counts as not sent.
  public static func isWanted(by fields: HTTPFields) -> Bool {
    guard let text = fields[.wantReprDigest] else { return true }
    do {
      let wanted = try StructuredFieldValueDecoder().decode(Preference.self, from: Array(text.utf8))
      return wanted.sha256 != 0
    } catch {
      return true
    }
  }

  private enum Algorithm: String, CodingKey {
    case sha256 = "sha-256"
  }

  private struct Wire: StructuredFieldValue {
    static let structuredFieldType = StructuredFieldType.dictionary
    var sha256: Data?
    private typealias CodingKeys = Algorithm

    init(from decoder: any Decoder) throws {
      sha256 = try decoder.container(keyedBy: Algorithm.self).decodeIfPresent(Data.self, forKey: .sha256)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Algorithm.self)
      try container.encodeIfPresent(sha256, forKey: .sha256)
    }
  }

  private struct Preference: StructuredFieldValue {
    static let structuredFieldType = StructuredFieldType.dictionary
    var sha256: Int?

    init(from decoder: any Decoder) throws {
      sha256 = try decoder.container(keyedBy: Algorithm.self).decodeIfPresent(Int.self, forKey: .sha256)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Algorithm.self)
      try container.encodeIfPresent(sha256, forKey: .sha256)
    }
  }
}
