package import HTTPEngine
package import HTTPTypes

/// A kind of problem in a response (RFC 9457): its type, status, title and documentation.
///
/// The raw value is the last component of the type and never changes, because clients compare types. The `detail` of
/// the ``HTTPProblem`` describes the individual case.
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
  case linkUsedUp = "link-used-up"
  case linkBytesExceeded = "link-bytes-exceeded"
  case noSuchLink = "no-such-link"
  case noSuchWebhook = "no-such-webhook"
  case tooManyLinks = "too-many-links"
  case linksNeedTokens = "links-need-tokens"
  case notPermitted = "not-permitted"
  case outsideLimits = "outside-limits"
  case callerLimited = "caller-limited"
  case crossSite = "cross-site"
  case userNotTrusted = "user-not-trusted"
  case malformedUser = "malformed-user"
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
  case snapshotSealed = "snapshot-sealed"
  case sealedOnly = "sealed-only"
  case folderTooLarge = "folder-too-large"
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
  case catalogUnavailable = "catalog-unavailable"
  case busy
  case auditUnavailable = "audit-unavailable"
  case quotaExceeded = "quota-exceeded"
  case outOfSpace = "out-of-space"

  /// The properties that all problems of a kind share.
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

  /// The possible statuses of responses with this problem. Most kinds have one.
  package var statuses: [HTTPResponse.Status] { description.statuses }
  /// A short title.
  package var title: String { description.title }
  /// One sentence for the documentation.
  package var text: String { description.text }

  /// The URI that identifies the kind: registered with IANA (RFC 9457 §4.2), or a URN of this project.
  package var type: String {
    (description.isRegistered
      ? "https://iana.org/assignments/http-problem-types#" : "urn:data-snapshots:problem:") + rawValue
  }

  /// Returns the kind of `problem`, or `nil` if it has no kind of its own, but only a status.
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
      Description(.badRequest, title: "This is not a report id", text: "The path has no report id.")
    case .malformedSnapshotID:
      Description(.badRequest, title: "This is not a snapshot id", text: "The path has no UUID.")
    case .malformedForm:
      Description(
        .badRequest, title: "The form is malformed", text: "The form is malformed, or contains no bundle.")
    case .malformedEnd:
      Description(
        .badRequest, .unprocessableContent, title: "This is not a valid expiry date",
        text: "The text is not a date, or not one at which the snapshot can expire.")
    case .digestMismatch:
      Description(
        .badRequest, title: "The content does not match its digest",
        text: "The SHA-256 of the content differs from the stated one. Nothing was stored.")
    case .tokenInURL:
      Description(
        .badRequest, title: "A URL must not contain a token",
        text: "The URL contains a token, which logs and histories would expose.")
    case .tokenNeeded:
      Description(.unauthorized, title: "This call needs a token", text: "The call needs a token.")
    case .tokenRefused:
      Description(
        .unauthorized, title: "The token is not valid", text: "The token is unknown or was revoked.")
    case .tokenExpired:
      Description(.unauthorized, title: "The token has expired", text: "The token has expired.")
    case .linkRefused:
      Description(
        .unauthorized, title: "The link is not valid",
        text: "The link was not created by this server, or was revoked.")
    case .linkExpired:
      Description(.unauthorized, title: "The link has expired", text: "The link has expired.")
    case .linkUsedUp:
      Description(
        .forbidden, title: "The link is used up",
        text: "As many snapshots were attached with the link as it allows. Nothing was stored.")
    case .linkBytesExceeded:
      Description(
        .contentTooLarge, title: "The link does not allow so many bytes",
        text: "The bundle is larger than what remains of the link's bytes. Nothing was stored.")
    case .noSuchLink:
      Description(.notFound, title: "There is no such link", text: "The report has no such link to attach.")
    case .noSuchWebhook:
      Description(
        .notFound, title: "There is no such webhook", text: "The settings of the server have no such webhook."
      )
    case .tooManyLinks:
      Description(
        .conflict, title: "The report has too many links",
        text: "The report has the maximum number of valid links to attach.")
    case .linksNeedTokens:
      Description(
        .conflict, title: "The store is open",
        text: "Everybody can attach to an open store, so that there are no links to attach.")
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
        text: "The call concerns all snapshots, but the token is limited to some.")
    case .crossSite:
      Description(
        .forbidden, title: "Pages of other sites are not allowed to do this",
        text: "A page of another site made a browser send the request.")
    case .userNotTrusted:
      Description(
        .forbidden, title: "Only the proxy is allowed to state a user",
        text: "The request states a user in a field that only a proxy may set, and is not from that proxy.")
    case .malformedUser:
      Description(
        .badRequest, title: "The user is stated wrongly",
        text: "The proxy states a user twice, or with a malformed name or malformed groups.")
    case .staleForm:
      Description(
        .forbidden, title: "The form is out of date",
        text: "The form was not created for the browser that sent it.")
    case .signInNeedsTLS:
      Description(
        .forbidden, title: "Signing in needs TLS",
        text: "A token was entered on a page without TLS.")
    case .sessionEnded:
      Description(
        .unauthorized, title: "The session has ended",
        text: "The user must sign in to the web pages again.")
    case .malformedUploadMetadata:
      Description(
        .badRequest, title: "Upload-Metadata can't be read",
        text: "Upload-Metadata is malformed, or has no report id.")
    case .malformedConcatenation:
      Description(
        .badRequest, title: "The uploads can't be concatenated",
        text: "The uploads to concatenate are not valid partial uploads.")
    case .inconsistentUploadLength:
      Description(
        .badRequest, title: "The upload's length is inconsistent",
        text: "The stated lengths of the upload contradict each other.", isRegistered: true)
    case .completedUpload:
      Description(
        .badRequest, title: "The upload is complete",
        text: "The upload is complete and accepts no more bytes.", isRegistered: true)
    case .uploadJoined:
      Description(
        .forbidden, title: "The upload is a concatenation",
        text: "The upload is a concatenation of others and accepts no bytes itself.")
    case .noSuchUpload:
      Description(
        .notFound, title: "There is no such upload",
        text: "The upload does not exist, or belongs to another caller.")
    case .mismatchingUploadOffset:
      Description(
        .conflict, title: "The offset does not match the upload's offset",
        text: "The upload continues at `expected-offset`, not at `provided-offset`.",
        isRegistered: true)
    case .uploadTakenOver:
      Description(
        .conflict, title: "A newer request has taken over the upload",
        text: "A newer request continues the upload.")
    case .uploadGone:
      Description(
        .gone, title: "The upload is gone", text: "The upload has expired or was cancelled.")
    case .tusVersion:
      Description(
        .preconditionFailed, title: "This version of tus is not supported",
        text: "The request uses a version of tus that the server does not support.")
    case .uploadMetadataTooLarge:
      Description(
        .contentTooLarge, title: "The upload's metadata is too large",
        text: "The upload's metadata is larger than the server accepts.")
    case .tooManyUploads:
      Description(
        .tooManyRequests, title: "Too many uploads are open",
        text: "The maximum number of open uploads is reached.")
    case .checksumMismatch:
      Description(
        .checksumMismatch, title: "The content does not match its checksum",
        text: "The request's content was damaged in transit. Nothing of it was stored.")
    case .noSuchPath:
      Description(
        .notFound, title: "This path does not exist", text: "No resource has the path.")
    case .noSuchSnapshot:
      Description(
        .notFound, title: "There is no such snapshot",
        text: "The snapshot does not exist, or the caller is not allowed to know about it.")
    case .noSuchFile:
      Description(.notFound, title: "The snapshot has no such file", text: "The snapshot has no such file.")
    case .methodNotAllowed:
      Description(
        .methodNotAllowed, title: "This resource does not support this method",
        text: "The resource does not support the method.")
    case .onlyCompressed:
      Description(
        .notAcceptable, title: "The file is only available compressed",
        text: "The file is so large that it is only available with gzip, and without ranges.")
    case .snapshotDiffers:
      Description(
        .conflict, title: "The id belongs to another snapshot",
        text: "The UUID belongs to a snapshot with other bytes or of another report.")
    case .confirmationNeeded:
      Description(
        .conflict, title: "Deleting these snapshots needs confirmation",
        text:
          """
          More than a fifth of all snapshots would be deleted, and at least 100, or the clock of the server may be \
          wrong. Nothing was deleted.
          """)
    case .snapshotDeleted:
      Description(.gone, title: "The snapshot was deleted", text: "The snapshot was deleted.")
    case .preconditionFailed:
      Description(
        .preconditionFailed, title: "A precondition of the request does not hold",
        text: "A condition in an If-… field is false.")
    case .snapshotExists:
      Description(
        .preconditionFailed, title: "The snapshot exists already",
        text: "The request should only create the snapshot, but the UUID is taken.")
    case .contentTooLarge:
      Description(
        .contentTooLarge, title: "The content is too large",
        text: "The content is larger than the server accepts.")
    case .formTooLarge:
      Description(
        .contentTooLarge, title: "The form is too large",
        text: "The form has more or longer fields than the server accepts.")
    case .unsupportedMediaType:
      Description(
        .unsupportedMediaType, title: "The content's type is not supported",
        text: "The content's type is not supported.")
    case .unsupportedCoding:
      Description(
        .unsupportedMediaType, title: "The content's coding is not supported",
        text: "The content's coding is not supported.")
    case .rangeNotSatisfiable:
      Description(
        .rangeNotSatisfiable, title: "The range is outside the content",
        text: "The range contains no byte of the content.")
    case .foreignName:
      Description(
        .misdirectedRequest, title: "The server does not respond under this name",
        text: "The store is open, or of one user, and the request's host name could belong to an attacker.")
    case .invalidBundle:
      Description(
        .unprocessableContent, title: "This is not a snapshot bundle",
        text: "The content is not a snapshot bundle. The detail has the reason.")
    case .unreadableFile:
      Description(
        .unprocessableContent, title: "The file can't be read",
        text: "The file is encrypted, or compressed with an unsupported method.")
    case .snapshotSealed:
      Description(
        .unprocessableContent, title: "The snapshot is sealed",
        text: "The snapshot is sealed, so that the server can't read its contents. Its bundle can be fetched."
      )
    case .sealedOnly:
      Description(
        .unprocessableContent, title: "The server accepts sealed bundles only",
        text: "The bundle is not sealed, and the server accepts sealed bundles only. Nothing was stored.")
    case .folderTooLarge:
      Description(
        .unprocessableContent, title: "The folder has too many files",
        text: "The folder has more files, or longer names, than the server packs into one archive.")
    case .malformedChange:
      Description(
        .unprocessableContent, title: "This change is not possible",
        text: "The record can't be changed like this.")
    case .rateLimited:
      Description(
        .tooManyRequests, title: "Too many requests",
        text: "The rate limit of the token or the address is exceeded.")
    case .tooManyWrongTokens:
      Description(
        .tooManyRequests, title: "Too many wrong tokens",
        text: "Too many wrong tokens were sent from the address."
      )
    case .uploadQuotaExceeded:
      Description(
        .tooManyRequests, title: "Too many bytes were uploaded",
        text: "The upload quota of the token or the address is exceeded.")
    case .internalError:
      Description(
        .internalServerError, title: "The server failed",
        text: "The server failed. Its log has the reason, under the request's id.")
    case .snapshotDamaged:
      Description(
        .internalServerError, title: "The server's copy is damaged",
        text: "The server's copy is damaged. Attaching intact bytes again repairs it.")
    case .unknownMethod:
      Description(
        .notImplemented, title: "This server does not support this method",
        text: "No resource of the server supports the method.")
    case .accessUnavailable:
      Description(
        .serviceUnavailable, title: "The server can't read its tokens",
        text: "The server can't read its tokens.")
    case .storageUnavailable:
      Description(
        .serviceUnavailable, title: "The server's storage fails",
        text: "The server can't read or write its storage. Its log has the reason.")
    case .catalogIncomplete:
      Description(
        .serviceUnavailable, title: "The catalogue is being rebuilt",
        text: "Lists are not available until the catalogue is rebuilt.")
    case .catalogUnavailable:
      Description(
        .serviceUnavailable, title: "The catalogue is not available",
        text: "Lists are not available until the server's database answers again.")
    case .busy:
      Description(
        .serviceUnavailable, title: "The server is busy",
        text: "The server is overloaded. Try again later.")
    case .auditUnavailable:
      Description(
        .serviceUnavailable, title: "The call can't be recorded",
        text: "The audit log can't be written at the moment, so the call was refused.")
    case .quotaExceeded:
      Description(
        .insufficientStorage, title: "The store's quota is exceeded",
        text: "The store's quota is exceeded. Nothing was stored.")
    case .outOfSpace:
      Description(
        .insufficientStorage, title: "The server's disk is full",
        text: "The server's disk is full. Nothing was stored.")
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
  /// Creates a problem of `kind`.
  ///
  /// - Parameter status: one of the kind's statuses; by default the first.
  package init(
    _ kind: ProblemKind, status: HTTPResponse.Status? = nil, detail: String, headerFields: HTTPFields = [:]
  ) {
    self.init(
      status: status ?? kind.statuses[0], type: kind.type, title: kind.title, detail: detail,
      headerFields: headerFields)
  }

  /// The kind's name, as in metrics and the audit log.
  package var kindName: String { ProblemKind(self)?.rawValue ?? type }
}
