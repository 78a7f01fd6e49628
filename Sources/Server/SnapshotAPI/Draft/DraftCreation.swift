import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat
import SnapshotStore

/// The properties of an upload, from the head of a request that attaches a bundle by the IETF draft.
struct DraftCreation {
  let dialect: DraftDialect
  /// Whether the client understands interim responses of this version, because it sent its version.
  let supportsInterim: Bool
  /// Whether this request contains the whole bundle.
  let completes: Bool
  /// The length of the bundle, if the head specifies it.
  let length: Int64?
  /// The expected digest of the bundle.
  let expected: ContentDigest?
  /// The expected digest of this request's body.
  let digest: StatedDigest?
  /// The expiry date of the snapshot.
  let expiresAt: Date?

  /// Whether the request can be handled as an upload that can't be resumed: it contains the whole bundle, and no digest
  /// follows in a trailer.
  var canBePlain: Bool {
    if case .after = digest { false } else { completes }
  }

  /// Parses the head of `request`. Returns `nil` if it has no fields of the draft, uses an unknown version, or contains
  /// a form. These requests are handled as uploads that can't be resumed.
  init?(_ request: HTTPServerRequest, now: Date = Date()) throws {
    let fields = request.headerFields
    let version = DraftVersion(fields)
    guard version != .unknown, let completes = version.dialect.completes(fields) else { return nil }
    let type = UploadIntake.type(in: fields)?.essence
    if type == "multipart/form-data", completes { return nil }
    guard type == "application/zip" else {
      throw HTTPProblem.unsupportedMediaType(fields[.contentType], accepted: "application/zip")
    }
    try UploadIntake.checkCoding(fields)
    dialect = version.dialect
    supportsInterim = version != .missing
    self.completes = completes
    length = try Self.length(fields, request.body.declaredLength, completes: completes)
    expected = try UploadIntake.digest(.reprDigest, in: fields)
    digest = try StatedDigest(.contentDigest, of: request)
    expiresAt = try UploadIntake.end(in: fields)?.time(from: now)
  }

  /// Returns the length from `Upload-Length`, or from `Content-Length` if the request contains the whole bundle. Throws
  /// if they contradict each other.
  private static func length(
    _ fields: HTTPFields, _ declared: Int64?, completes: Bool
  ) throws(UploadFailure) -> Int64? {
    let stated = StructuredItem.count(fields[.uploadLength])
    guard let declared else { return stated }
    guard let stated else { return completes ? declared : nil }
    guard completes ? stated == declared : stated >= declared else {
      throw UploadFailure(.inconsistentLength(known: stated, stated: declared))
    }
    return stated
  }
}

extension StatedDigest {
  /// Creates the SHA-256 of the body of `request` from the field `name`, in the head or in an announced trailer.
  /// Returns `nil` if there is neither.
  init?(_ name: HTTPField.Name, of request: HTTPServerRequest) throws(HTTPProblem) {
    if let digest = try UploadIntake.digest(name, in: request.headerFields) {
      self = .before(Value(.sha256, digest.bytes))
    } else if request.announces(trailer: name) {
      let body = request.body
      self = .after { try UploadIntake.digest(name, in: body.trailers).map { Value(.sha256, $0.bytes) } }
    } else {
      return nil
    }
  }
}
