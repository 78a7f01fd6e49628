import Foundation
import HTTPTypes
import SnapshotFormat
import StructuredFieldValues

/// The field `Repr-Digest: sha-256=:…:` (RFC 9530 §3).
enum ReprDigest {
  static let name = HTTPField.Name("Repr-Digest")

  /// The field's value for `digest`.
  static func value(_ digest: ContentDigest) -> String {
    "sha-256=:\(Data(digest.bytes).base64EncodedString()):"
  }

  /// The digest in `fields`, where there is one that can be read; other algorithms are passed over.
  static func digest(in fields: HTTPFields) -> ContentDigest? {
    guard let name, let text = fields[name] else { return nil }
    do {
      let value = try StructuredFieldValueDecoder().decode(Value.self, from: Array(text.utf8))
      return value.sha256.flatMap { ContentDigest(bytes: $0) }
    } catch {
      // A field that is malformed says nothing; the record's digest is asked for instead.
      return nil
    }
  }

  private struct Value: StructuredFieldValue {
    static let structuredFieldType = StructuredFieldType.dictionary
    let sha256: Data?

    enum CodingKeys: String, CodingKey {
      case sha256 = "sha-256"
    }
  }
}
