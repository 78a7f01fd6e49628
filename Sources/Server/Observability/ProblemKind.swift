package import HTTPEngine
package import HTTPTypes

/// A kind of problem that an answer may report (RFC 9457): its type, status, title and documentation.
///
/// The raw value is the last component of the type. It never changes: clients compare types. What went wrong in one
/// case is the `detail` of the ``HTTPProblem``.
package enum ProblemKind: String, CaseIterable, Sendable {
  case badRequest = "bad-request"
  case malformedReportID = "malformed-report-id"
  case malformedSnapshotID = "malformed-snapshot-id"
  case malformedForm = "malformed-form"
  case malformedEnd = "malformed-end"
  case digestMismatch = "digest-mismatch"
  case tokenInURL = "token-in-url"
  case tokenNeeded = "token-needed"
  case tokenRefused = "token-refused"
  case tokenExpired = "token-expired"
  case linkRefused = "link-refused"
  case linkExpired = "link-expired"
  case notPermitted = "not-permitted"
  case outsideLimits = "outside-limits"
  case callerLimited = "caller-limited"
  case crossSite = "cross-site"
  case staleForm = "stale-form"
  case signInNeedsTLS = "sign-in-needs-tls"
  case sessionEnded = "session-ended"
  case malformedUploadMetadata = "malformed-upload-metadata"
  case malformedConcatenation = "malformed-concatenation"
  case inconsistentUploadLength = "inconsistent-upload-length"
  case completedUpload = "completed-upload"
  case uploadJoined = "upload-joined"
  case noSuchUpload = "no-such-upload"
  case mismatchingUploadOffset = "mismatching-upload-offset"
  case uploadTakenOver = "upload-taken-over"
  case uploadGone = "upload-gone"
  case tusVersion = "tus-version"
  case uploadMetadataTooLarge = "upload-metadata-too-large"
  case tooManyUploads = "too-many-uploads"
  case checksumMismatch = "checksum-mismatch"
  case noSuchPath = "no-such-path"
  case noSuchSnapshot = "no-such-snapshot"
  case noSuchFile = "no-such-file"
  case methodNotAllowed = "method-not-allowed"
  case onlyCompressed = "only-compressed"
  case snapshotDiffers = "snapshot-differs"
  case confirmationNeeded = "confirmation-needed"
  case snapshotDeleted = "snapshot-deleted"
  case preconditionFailed = "precondition-failed"
  case snapshotExists = "snapshot-exists"
  case contentTooLarge = "content-too-large"
  case formTooLarge = "form-too-large"
  case unsupportedMediaType = "unsupported-media-type"
  case unsupportedCoding = "unsupported-coding"
  case rangeNotSatisfiable = "range-not-satisfiable"
  case foreignName = "foreign-name"
  case invalidBundle = "invalid-bundle"
  case unreadableFile = "unreadable-file"
  case malformedChange = "malformed-change"
  case rateLimited = "rate-limited"
  case tooManyWrongTokens = "too-many-wrong-tokens"
  case uploadQuotaExceeded = "upload-quota-exceeded"
  case internalError = "internal-error"
  case snapshotDamaged = "snapshot-damaged"
  case unknownMethod = "unknown-method"
  case accessUnavailable = "access-unavailable"
  case storageUnavailable = "storage-unavailable"
  case catalogIncomplete = "catalog-incomplete"
  case busy
  case auditUnavailable = "audit-unavailable"
  case quotaExceeded = "quota-exceeded"
  case outOfSpace = "out-of-space"

  /// What all problems of one kind share.
  private struct Description {
    let statuses: [HTTPResponse.Status]
    let title: String
    let text: String
    let isRegistered: Bool

    init(_ statuses: HTTPResponse.Status..., title: String, text: String, isRegistered: Bool = false) {
      self.statuses = statuses
      self.title = title
      self.text = text
      self.isRegistered = isRegistered
    }
  }

  /// The statuses of answers with such a problem; most have one.
  package var statuses: [HTTPResponse.Status] { description.statuses }
  /// The kind in a few words.
  package var title: String { description.title }
  /// One sentence for the documentation.
  package var text: String { description.text }

  /// The URI that identifies the kind: registered with IANA (RFC 9457 §4.2), or a URN of this project.
  package var type: String {
    (description.isRegistered
      ? "https://iana.org/assignments/http-problem-types#" : "urn:data-snapshots:problem:") + rawValue
  }

  /// The kind of `problem`; `nil` where only its status says what is wrong.
  package init?(_ problem: HTTPProblem) {
    let name = problem.type.split { $0 == ":" || $0 == "#" }.last.map(String.init) ?? ""
    guard let kind = Self(rawValue: name), kind.type == problem.type else { return nil }
    self = kind
  }

  private var description: Description {
    switch self {
    case .badRequest:
      Description(.badRequest, title: "The request is malformed", text: "The request is malformed.")
    case .malformedReportID:
      Description(.badRequest, title: "This is no report id", text: "The path names no report.")
    case .malformedSnapshotID:
      Description(.badRequest, title: "This is no snapshot id", text: "The path names no UUID.")
    case .malformedForm:
      Description(
        .badRequest, title: "The form is malformed", text: "The form can't be read, or has no bundle.")
    case .malformedEnd:
      Description(
        .badRequest, .unprocessableContent, title: "This is no time at which a snapshot could go",
        text: "This is no time at which a snapshot could go.")
    case .digestMismatch:
      Description(
        .badRequest, title: "The content does not have the digest that was stated",
        text: "The content has another SHA-256 than was stated; nothing was kept.")
    case .tokenInURL:
      Description(
        .badRequest, title: "A token does not belong into a URL",
        text: "A token stands in the URL, where logs and histories would keep it.")
    case .tokenNeeded:
      Description(.unauthorized, title: "This call needs a token", text: "The call needs a token.")
    case .tokenRefused:
      Description(
        .unauthorized, title: "The token is not taken", text: "The token is not known, or was revoked.")
    case .tokenExpired:
      Description(.unauthorized, title: "The token has expired", text: "The token was valid once.")
    case .linkRefused:
      Description(
        .unauthorized, title: "The link is not valid", text: "The link is not one that this server gave.")
    case .linkExpired:
      Description(.unauthorized, title: "The link has expired", text: "The link was valid once.")
    case .notPermitted:
      Description(
        .forbidden, title: "The token does not allow this", text: "The token's scopes don't allow the call.")
    case .outsideLimits:
      Description(
        .forbidden, title: "The token is limited",
        text: "The token is limited to other reports or applications.")
    case .callerLimited:
      Description(
        .forbidden, title: "The token is limited to some snapshots",
        text: "The call is about all snapshots, and the token is limited to some.")
    case .crossSite:
      Description(
        .forbidden, title: "Another site's page may not do this",
        text: "A page of another site made a browser send the request.")
    case .staleForm:
      Description(
        .forbidden, title: "The form is out of date",
        text: "A web page's form was not made for the browser that sent it.")
    case .signInNeedsTLS:
      Description(
        .forbidden, title: "Signing in needs TLS",
        text: "A token was entered in a web page that came without TLS.")
    case .sessionEnded:
      Description(
        .unauthorized, title: "The session has ended",
        text: "Who had signed in to the web pages has to do it again.")
    case .malformedUploadMetadata:
      Description(
        .badRequest, title: "Upload-Metadata can't be read",
        text: "Upload-Metadata can't be read, or names no report.")
    case .malformedConcatenation:
      Description(
        .badRequest, title: "The upload can't be joined so",
        text: "The parts that an upload is to be joined from can't be.")
    case .inconsistentUploadLength:
      Description(
        .badRequest, title: "The length is not the upload's",
        text: "What is said of the upload's length contradicts itself.", isRegistered: true)
    case .completedUpload:
      Description(
        .badRequest, title: "The upload is complete",
        text: "The upload has all of its bytes, and takes none any more.", isRegistered: true)
    case .uploadJoined:
      Description(
        .forbidden, title: "The upload is made of others",
        text: "The upload is made of others, and takes no bytes itself.")
    case .noSuchUpload:
      Description(
        .notFound, title: "There is no such upload",
        text: "There is no such upload, or it is somebody else's.")
    case .mismatchingUploadOffset:
      Description(
        .conflict, title: "The offset is not the upload's",
        text: "The upload goes on elsewhere: at `expected-offset`, not at `provided-offset`.",
        isRegistered: true)
    case .uploadTakenOver:
      Description(
        .conflict, title: "A newer request has taken the upload over",
        text: "A newer request goes on with the upload.")
    case .uploadGone:
      Description(
        .gone, title: "The upload is gone", text: "The upload was not finished in time, or was ended.")
    case .tusVersion:
      Description(
        .preconditionFailed, title: "This version of tus is not spoken here",
        text: "Another version of tus was asked for than is spoken.")
    case .uploadMetadataTooLarge:
      Description(
        .contentTooLarge, title: "Too much came with the upload",
        text: "More came with the upload than is kept.")
    case .tooManyUploads:
      Description(
        .tooManyRequests, title: "Too many uploads are open", text: "As many uploads are open as may be.")
    case .checksumMismatch:
      Description(
        .checksumMismatch, title: "The content does not have the checksum that was stated",
        text: "What the request brought was damaged; none of it was kept.")
    case .noSuchPath:
      Description(
        .notFound, title: "There is nothing under this path", text: "Nothing answers under the path.")
    case .noSuchSnapshot:
      Description(
        .notFound, title: "There is no such snapshot",
        text: "There is no such snapshot, or none that the caller may know of.")
    case .noSuchFile:
      Description(.notFound, title: "The snapshot has no such file", text: "The snapshot holds no such file.")
    case .methodNotAllowed:
      Description(
        .methodNotAllowed, title: "This resource does not answer this method",
        text: "The path does not answer the method.")
    case .onlyCompressed:
      Description(
        .notAcceptable, title: "The file is only sent compressed",
        text: "The file is so large that it is only sent with gzip, and not in ranges.")
    case .snapshotDiffers:
      Description(
        .conflict, title: "The id belongs to another snapshot",
        text: "The UUID belongs to other bytes or to another report.")
    case .confirmationNeeded:
      Description(
        .conflict, title: "So many snapshots only go when somebody confirms it",
        text: "More than a fifth of all snapshots would go, at least 100; nothing went.")
    case .snapshotDeleted:
      Description(.gone, title: "The snapshot was deleted", text: "The snapshot was deleted.")
    case .preconditionFailed:
      Description(
        .preconditionFailed, title: "A precondition of the request does not hold",
        text: "What an If-… field states is not so.")
    case .snapshotExists:
      Description(
        .preconditionFailed, title: "The snapshot exists already",
        text: "The UUID is taken, and was to be created.")
    case .contentTooLarge:
      Description(
        .contentTooLarge, title: "The content is too large",
        text: "The content is larger than the server takes.")
    case .formTooLarge:
      Description(
        .contentTooLarge, title: "The form is too large",
        text: "The form has more or longer fields than the server takes.")
    case .unsupportedMediaType:
      Description(
        .unsupportedMediaType, title: "The content has a type that is not taken",
        text: "The content's type is not taken.")
    case .unsupportedCoding:
      Description(
        .unsupportedMediaType, title: "The content is coded in a way that is not taken",
        text: "The content is coded in a way that is not taken.")
    case .rangeNotSatisfiable:
      Description(
        .rangeNotSatisfiable, title: "The range lies outside of the content",
        text: "No byte of the content lies in the range.")
    case .foreignName:
      Description(
        .misdirectedRequest, title: "The server does not answer under this name",
        text: "The store is open, and the request was sent to a name that may be anybody's.")
    case .invalidBundle:
      Description(
        .unprocessableContent, title: "This is not a snapshot bundle",
        text: "The content is no snapshot bundle; the detail says why.")
    case .unreadableFile:
      Description(
        .unprocessableContent, title: "The file can't be read",
        text: "The file is encrypted, or compressed by a method that is not known.")
    case .malformedChange:
      Description(
        .unprocessableContent, title: "This can't be changed so", text: "The record can't be changed so.")
    case .rateLimited:
      Description(
        .tooManyRequests, title: "Too many requests",
        text: "The token or the address has made as many requests as it may.")
    case .tooManyWrongTokens:
      Description(
        .tooManyRequests, title: "Too many wrong tokens", text: "Too many wrong tokens came from the address."
      )
    case .uploadQuotaExceeded:
      Description(
        .tooManyRequests, title: "Too many bytes were uploaded",
        text: "The token or the address has uploaded as many bytes as it may.")
    case .internalError:
      Description(
        .internalServerError, title: "The server failed",
        text: "The server failed; its log tells why, under the request's id.")
    case .snapshotDamaged:
      Description(
        .internalServerError, title: "The server's copy is damaged",
        text: "The server's copy is damaged; attaching intact bytes again puts it right.")
    case .unknownMethod:
      Description(
        .notImplemented, title: "This server does not know this method",
        text: "No path of the server answers the method.")
    case .accessUnavailable:
      Description(
        .serviceUnavailable, title: "The server can't read its tokens",
        text: "The server can't read its tokens.")
    case .storageUnavailable:
      Description(
        .serviceUnavailable, title: "The server's storage fails",
        text: "The server can't read or write its storage; its log tells why.")
    case .catalogIncomplete:
      Description(
        .serviceUnavailable, title: "The catalogue is being made anew",
        text: "Lists are not answered until the catalogue is made anew.")
    case .busy:
      Description(
        .serviceUnavailable, title: "The server is busy",
        text: "The server has too much to do; try again after a while.")
    case .auditUnavailable:
      Description(
        .serviceUnavailable, title: "The call can't be accounted for",
        text: "The call can't be accounted for at the moment, so it is not answered.")
    case .quotaExceeded:
      Description(
        .insufficientStorage, title: "The server keeps no more than it does now",
        text: "The store's quota is used up; nothing was kept.")
    case .outOfSpace:
      Description(
        .insufficientStorage, title: "The server has no room left",
        text: "The server has no room left; nothing was kept.")
    }
  }
}

extension HTTPResponse.Status {
  /// 460, as tus 1.0.0 defines it for the checksum extension.
  package static let checksumMismatch = HTTPResponse.Status(code: 460, reasonPhrase: "Checksum Mismatch")
  /// 507 (RFC 4918 §11.5).
  static let insufficientStorage = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
}

extension HTTPProblem {
  /// A problem of `kind`.
  /// - Parameter status: which of the kind's statuses it has; the first where it is not given.
  package init(
    _ kind: ProblemKind, status: HTTPResponse.Status? = nil, detail: String, headerFields: HTTPFields = [:]
  ) {
    self.init(
      status: status ?? kind.statuses[0], type: kind.type, title: kind.title, detail: detail,
      headerFields: headerFields)
  }

  /// The kind of the problem, as metrics and the audit log name it.
  package var kindName: String { ProblemKind(self)?.rawValue ?? type }
}
