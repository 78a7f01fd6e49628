import SnapshotFormat

/// A kind of problem that clients are told of (RFC 9457), as the description of the API lists it.
struct ProblemKind: Sendable {
  /// The last word of the type.
  let name: String
  let statuses: [Int]
  let text: String
  /// Whether it is registered with IANA rather than named here.
  let isRegistered: Bool

  init(_ name: String, _ statuses: Int..., text: String, isRegistered: Bool = false) {
    self.name = name
    self.statuses = statuses
    self.text = text
    self.isRegistered = isRegistered
  }

  /// Where IANA registers kinds of problems (RFC 9457 §4.2).
  static let registry = "https://iana.org/assignments/http-problem-types#"

  /// What identifies it in an answer.
  var type: String { (isRegistered ? Self.registry : "urn:data-snapshots:problem:") + name }

  /// Every kind, by its name.
  static let byName = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }

  static let all: [ProblemKind] = [
    ProblemKind("bad-request", 400, text: "The request is malformed."),
    ProblemKind("malformed-report-id", 400, text: "The path names no report."),
    ProblemKind("malformed-snapshot-id", 400, text: "The path names no UUID."),
    ProblemKind("malformed-form", 400, text: "The form can't be read, or has no bundle."),
    ProblemKind("malformed-end", 400, 422, text: "This is no time at which a snapshot could go."),
    ProblemKind(
      "digest-mismatch", 400, text: "The content has another SHA-256 than was stated; nothing was kept."),
    ProblemKind(
      "token-in-url", 400, text: "A token stands in the URL, where logs and histories would keep it."),
    ProblemKind("token-needed", 401, text: "The call needs a token."),
    ProblemKind("token-refused", 401, text: "The token is not known, or was revoked."),
    ProblemKind("token-expired", 401, text: "The token was valid once."),
    ProblemKind("link-refused", 401, text: "The link is not one that this server gave."),
    ProblemKind("link-expired", 401, text: "The link was valid once."),
    ProblemKind("not-permitted", 403, text: "The token's scopes don't allow the call."),
    ProblemKind("outside-limits", 403, text: "The token is limited to other reports or applications."),
    ProblemKind(
      "caller-limited", 403, text: "The call is about all snapshots, and the token is limited to some."),
    ProblemKind("cross-site", 403, text: "A page of another site made a browser send the request."),
    ProblemKind("stale-form", 403, text: "A web page's form was not made for the browser that sent it."),
    ProblemKind("sign-in-needs-tls", 403, text: "A token was entered in a web page that came without TLS."),
    ProblemKind("session-ended", 401, text: "Who had signed in to the web pages has to do it again."),
    ProblemKind("malformed-upload-metadata", 400, text: "Upload-Metadata can't be read, or names no report."),
    ProblemKind(
      "malformed-concatenation", 400, text: "The parts that an upload is to be joined from can't be."),
    ProblemKind(
      "inconsistent-upload-length", 400, text: "What is said of the upload's length contradicts itself.",
      isRegistered: true),
    ProblemKind(
      "completed-upload", 400, text: "The upload has all of its bytes, and takes none any more.",
      isRegistered: true),
    ProblemKind("upload-joined", 403, text: "The upload is made of others, and takes no bytes itself."),
    ProblemKind("no-such-upload", 404, text: "There is no such upload, or it is somebody else's."),
    ProblemKind(
      "mismatching-upload-offset", 409,
      text: "The upload goes on elsewhere: at `expected-offset`, not at `provided-offset`.",
      isRegistered: true),
    ProblemKind("upload-taken-over", 409, text: "A newer request goes on with the upload."),
    ProblemKind("upload-gone", 410, text: "The upload was not finished in time, or was ended."),
    ProblemKind("tus-version", 412, text: "Another version of tus was asked for than is spoken."),
    ProblemKind("upload-metadata-too-large", 413, text: "More came with the upload than is kept."),
    ProblemKind("too-many-uploads", 429, text: "As many uploads are open as may be."),
    ProblemKind("checksum-mismatch", 460, text: "What the request brought was damaged; none of it was kept."),
    ProblemKind("no-such-path", 404, text: "Nothing answers under the path."),
    ProblemKind(
      "no-such-snapshot", 404, text: "There is no such snapshot, or none that the caller may know of."),
    ProblemKind("no-such-file", 404, text: "The snapshot holds no such file."),
    ProblemKind("method-not-allowed", 405, text: "The path does not answer the method."),
    ProblemKind(
      "only-compressed", 406, text: "The file is so large that it is only sent with gzip, and not in ranges."),
    ProblemKind("snapshot-differs", 409, text: "The UUID belongs to other bytes or to another report."),
    ProblemKind(
      "confirmation-needed", 409,
      text: "More than a fifth of all snapshots would go, at least 100; nothing went."),
    ProblemKind("snapshot-deleted", 410, text: "The snapshot was deleted."),
    ProblemKind("precondition-failed", 412, text: "What an If-… field states is not so."),
    ProblemKind("snapshot-exists", 412, text: "The UUID is taken, and was to be created."),
    ProblemKind("content-too-large", 413, text: "The content is larger than the server takes."),
    ProblemKind("form-too-large", 413, text: "The form has more or longer fields than the server takes."),
    ProblemKind("unsupported-media-type", 415, text: "The content's type is not taken."),
    ProblemKind("unsupported-coding", 415, text: "The content is coded in a way that is not taken."),
    ProblemKind("range-not-satisfiable", 416, text: "No byte of the content lies in the range."),
    ProblemKind(
      "foreign-name", 421,
      text: "The store is open, and the request was sent to a name that may be anybody's."),
    ProblemKind("invalid-bundle", 422, text: "The content is no snapshot bundle; the detail says why."),
    ProblemKind(
      "unreadable-file", 422, text: "The file is encrypted, or compressed by a method that is not known."),
    ProblemKind("malformed-change", 422, text: "The record can't be changed so."),
    ProblemKind("rate-limited", 429, text: "The token or the address has made as many requests as it may."),
    ProblemKind("too-many-wrong-tokens", 429, text: "Too many wrong tokens came from the address."),
    ProblemKind(
      "upload-quota-exceeded", 429, text: "The token or the address has uploaded as many bytes as it may."),
    ProblemKind("internal-error", 500, text: "The server failed; its log tells why, under the request's id."),
    ProblemKind(
      "snapshot-damaged", 500,
      text: "The server's copy is damaged; attaching intact bytes again puts it right."),
    ProblemKind("unknown-method", 501, text: "No path of the server answers the method."),
    ProblemKind("access-unavailable", 503, text: "The server can't read its tokens."),
    ProblemKind(
      "storage-unavailable", 503, text: "The server can't read or write its storage; its log tells why."),
    ProblemKind("catalog-incomplete", 503, text: "Lists are not answered until the catalogue is made anew."),
    ProblemKind("busy", 503, text: "The server has too much to do; try again after a while."),
    ProblemKind(
      "audit-unavailable", 503, text: "The call can't be accounted for at the moment, so it is not answered."),
    ProblemKind("quota-exceeded", 507, text: "The store's quota is used up; nothing was kept."),
    ProblemKind("out-of-space", 507, text: "The server has no room left; nothing was kept."),
  ]
}
