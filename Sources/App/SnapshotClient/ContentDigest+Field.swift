import HTTPSemantics
import HTTPTypes
import SnapshotFormat

extension ContentDigest {
  /// The digest that `Repr-Digest` states in `fields` (RFC 9530 §3). A field that can't be read counts as missing:
  /// the record's digest is asked for instead.
  init?(statedIn fields: HTTPFields) {
    do {
      guard let bytes = try DigestField(.reprDigest, in: fields)?.sha256 else { return nil }
      self.init(bytes: bytes)
    } catch {
      return nil
    }
  }
}
