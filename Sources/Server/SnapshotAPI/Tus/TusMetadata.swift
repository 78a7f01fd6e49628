import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat
import SnapshotStore

/// The metadata of a bundle in `Upload-Metadata`: keys, each with a value in base64, separated by commas.
///
///     report QlVHLTE=,id …,digest …,expires MzBk,filename …
///
/// `report` is the bug report, `id` the snapshot's UUID, `digest` the bundle's SHA-256, either in hexadecimal or as in
/// `Repr-Digest`, and `expires` the expiry date. All other keys become metadata of the record, like the fields of a
/// form.
struct TusMetadata {
  private static let reportKey = "report"
  private static let idKey = "id"
  private static let digestKey = "digest"

  /// The unchanged value of the field.
  let text: String?
  private var values: [String: String] = [:]

  init(_ fields: HTTPFields, limits: ServiceLimits) throws(HTTPProblem) {
    text = fields[.uploadMetadata]
    for pair in (text ?? "").split(separator: ",") {
      let parts = pair.split(separator: " ")
      guard (1...2).contains(parts.count), parts[0].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
        throw HTTPProblem.malformedMetadata(
          "It must be keys in ASCII, each with a space and a base64 value, separated by commas.")
      }
      let key = String(parts[0])
      guard values[key] == nil else {
        throw HTTPProblem.malformedMetadata("The key ‘\(HTTPProblem.abridged(key))’ is given twice.")
      }
      guard key.utf8.count <= limits.metadataNameBytes else {
        throw HTTPProblem.metadataTooLarge("A key has more than \(limits.metadataNameBytes) bytes.")
      }
      let value = parts.count == 2 ? try Self.value(of: key, parts[1]) : ""
      guard value.utf8.count <= limits.metadataValueBytes else {
        throw HTTPProblem.metadataTooLarge("A value has more than \(limits.metadataValueBytes) bytes.")
      }
      values[key] = value
      guard values.count <= limits.metadataFields else {
        throw HTTPProblem.metadataTooLarge("There are more than \(limits.metadataFields) keys.")
      }
    }
  }

  private static func value(of key: String, _ base64: Substring) throws(HTTPProblem) -> String {
    guard let data = Data(base64Encoded: String(base64)), let value = String(validating: data, as: UTF8.self),
      !value.utf8.contains(0)
    else {
      throw HTTPProblem.malformedMetadata(
        "The value of ‘\(HTTPProblem.abridged(key))’ is not UTF-8 text in base64.")
    }
    return value
  }

  /// Returns the attachment to publish.
  /// - Parameter now: the time at which a relative expiry begins.
  func attachment(now: Date) throws -> Attachment {
    guard let report = values[Self.reportKey] else {
      throw HTTPProblem.malformedMetadata(
        "The key ‘\(Self.reportKey)’, which names the bug report, is missing.")
    }
    var attachment = Attachment(report: try ReportID(validating: report))
    attachment.id = try values[Self.idKey].map { text in
      guard let id = SnapshotID(text) else { throw HTTPProblem.malformedID(text) }
      return id
    }
    attachment.expected = try values[Self.digestKey].map(Self.digest)
    attachment.expiresAt = try values[UploadIntake.endName].flatMap { text in
      guard let end = SnapshotEnd(text) else {
        throw HTTPProblem.malformedEnd(UploadIntake.endName, text)
      }
      return end.time(from: now)
    }
    let known = [Self.reportKey, Self.idKey, Self.digestKey, UploadIntake.endName]
    attachment.metadata = values.filter { !known.contains($0.key) }
    return attachment
  }

  private static func digest(_ text: String) throws(HTTPProblem) -> ContentDigest {
    if let digest = ContentDigest(hexadecimal: text) { return digest }
    do {
      let field = try DigestField(.reprDigest, in: [.reprDigest: text])
      if let bytes = field?.sha256, let digest = ContentDigest(bytes: bytes) { return digest }
    } catch {
      // Text that is not a valid field is not a digest either.
    }
    throw HTTPProblem.malformedMetadata("The value of ‘\(digestKey)’ is not a SHA-256.")
  }
}
