import SnapshotFormat

/// A kind of problem that clients are told of (RFC 9457), as the description of the API lists it.
struct ProblemKind: Sendable {
  /// The last word of the type.
  let name: String
  let status: Int
  let text: String

  init(_ name: String, _ status: Int, _ text: String) {
    self.name = name
    self.status = status
    self.text = text
  }

  /// What identifies it in an answer.
  var type: String { "urn:data-snapshots:problem:" + name }

  /// Every kind, by its name.
  static let byName = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }

  static let all: [ProblemKind] = [
    ProblemKind("bad-request", 400, "The request is malformed."),
    ProblemKind("malformed-report-id", 400, "The path names no report."),
    ProblemKind("malformed-snapshot-id", 400, "The path names no UUID."),
    ProblemKind("malformed-form", 400, "The form can't be read, or has no bundle."),
    ProblemKind("digest-mismatch", 400, "The content has another SHA-256 than was stated; nothing was kept."),
    ProblemKind("token-in-url", 400, "A token stands in the URL, where logs and histories would keep it."),
    ProblemKind("token-needed", 401, "The call needs a token."),
    ProblemKind("token-refused", 401, "The token is not known, or was revoked."),
    ProblemKind("token-expired", 401, "The token was valid once."),
    ProblemKind("link-refused", 401, "The link is not one that this server gave."),
    ProblemKind("link-expired", 401, "The link was valid once."),
    ProblemKind("not-permitted", 403, "The token's scopes don't allow the call."),
    ProblemKind("outside-limits", 403, "The token is limited to other reports or applications."),
    ProblemKind("cross-site", 403, "A page of another site made a browser send the request."),
    ProblemKind("no-such-path", 404, "Nothing answers under the path."),
    ProblemKind("no-such-snapshot", 404, "There is no such snapshot, or none that the caller may know of."),
    ProblemKind("method-not-allowed", 405, "The path does not answer the method."),
    ProblemKind("snapshot-differs", 409, "The UUID belongs to other bytes or to another report."),
    ProblemKind("snapshot-deleted", 410, "The snapshot was deleted."),
    ProblemKind("precondition-failed", 412, "What an If-… field states is not so."),
    ProblemKind("snapshot-exists", 412, "The UUID is taken, and was to be created."),
    ProblemKind("content-too-large", 413, "The content is larger than the server takes."),
    ProblemKind("form-too-large", 413, "The form has more or longer fields than the server takes."),
    ProblemKind("unsupported-media-type", 415, "The content's type is not taken."),
    ProblemKind("unsupported-coding", 415, "The content is coded in a way that is not taken."),
    ProblemKind("range-not-satisfiable", 416, "No byte of the content lies in the range."),
    ProblemKind(
      "foreign-name", 421, "The store is open, and the request was sent to a name that may be anybody's."),
    ProblemKind("invalid-bundle", 422, "The content is no snapshot bundle; the detail says why."),
    ProblemKind("rate-limited", 429, "The token or the address has made as many requests as it may."),
    ProblemKind("too-many-wrong-tokens", 429, "Too many wrong tokens came from the address."),
    ProblemKind("internal-error", 500, "The server failed; its log tells why, under the request's id."),
    ProblemKind("unknown-method", 501, "No path of the server answers the method."),
    ProblemKind("busy", 503, "The server has too much to do; try again after a while."),
    ProblemKind(
      "audit-unavailable", 503, "The call can't be accounted for at the moment, so it is not answered."),
    ProblemKind("out-of-space", 507, "The server has no room left; nothing was kept."),
  ]
}
