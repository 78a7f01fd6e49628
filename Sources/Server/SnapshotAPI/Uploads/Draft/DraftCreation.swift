import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat
import SnapshotStore

/// A bundle that comes by the IETF's draft, as the head of the request says that attaches it.
struct DraftCreation {
  let dialect: DraftDialect
  /// Whether the client understands interim answers of this version.
  let hearsInterim: Bool
  /// Whether all of the bundle comes with this request.
  let completes: Bool
  /// How many bytes the bundle has, as far as the head says.
  let length: Int64?
  /// The digest of the bundle.
  let expected: ContentDigest?
  /// The digest of what comes with this request.
  let digest: StatedDigest?
  /// When the snapshot is to go by itself.
  let expiresAt: Date?

  /// Whether it could come as an upload that can't be resumed: all of it comes now, and what is stated of it is in the
  /// head.
  var canBePlain: Bool {
    if case .after = digest { false } else { completes }
  }

  /// Reads the head of `request`; `nil` where it says nothing of resumption, or says it in a version that is not known,
  /// or brings a form: these are uploads like all others.
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
    hearsInterim = version != .unsaid
    self.completes = completes
    length = try Self.length(fields, request.body.declaredLength, completes: completes)
    expected = try UploadIntake.digest(.reprDigest, in: fields)
    digest = try StatedDigest(.contentDigest, of: request)
    expiresAt = try UploadIntake.end(in: fields)?.time(from: now)
  }

  /// What `Upload-Length` says, and `Content-Length`, where it is that of all: not two different things.
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
  /// The SHA-256 that the field `name` states of the bytes of `request`, in its head, or announced there and behind the
  /// body; `nil` where there is none.
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
