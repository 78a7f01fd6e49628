public import HTTPTypes

extension HTTPField.Name {
  /// `Accept-Patch` (RFC 5789 §3.1).
  public static let acceptPatch = constant("Accept-Patch")
  /// `Accept-Post` (W3C LDP §7.1).
  public static let acceptPost = constant("Accept-Post")
  /// `Content-Digest` (RFC 9530 §2).
  public static let contentDigest = constant("Content-Digest")
  /// `Content-Transfer-Encoding` (RFC 2045 §6).
  public static let contentTransferEncoding = constant("Content-Transfer-Encoding")
  /// `Forwarded` (RFC 7239 §4).
  public static let forwarded = constant("Forwarded")
  /// `Link` (RFC 8288).
  public static let link = constant("Link")
  /// `RateLimit` (draft-ietf-httpapi-ratelimit-headers).
  public static let rateLimit = constant("RateLimit")
  /// `RateLimit-Policy` (the same draft).
  public static let rateLimitPolicy = constant("RateLimit-Policy")
  /// `Referrer-Policy` (Referrer Policy §4.1).
  public static let referrerPolicy = constant("Referrer-Policy")
  /// `Repr-Digest` (RFC 9530 §3).
  public static let reprDigest = constant("Repr-Digest")
  /// `traceparent` (W3C Trace Context §3.2).
  public static let traceParent = constant("traceparent")
  /// `Sec-Fetch-Site` (Fetch Metadata §2.3).
  public static let secFetchSite = constant("Sec-Fetch-Site")
  /// `Snapshot-Expires`: when the attached snapshot expires and is deleted.
  public static let snapshotExpires = constant("Snapshot-Expires")
  /// `Tus-Checksum-Algorithm` (tus 1.0.0).
  public static let tusChecksumAlgorithm = constant("Tus-Checksum-Algorithm")
  /// `Tus-Extension` (tus 1.0.0).
  public static let tusExtension = constant("Tus-Extension")
  /// `Tus-Max-Size` (tus 1.0.0).
  public static let tusMaxSize = constant("Tus-Max-Size")
  /// `Tus-Resumable` (tus 1.0.0).
  public static let tusResumable = constant("Tus-Resumable")
  /// `Tus-Version` (tus 1.0.0).
  public static let tusVersion = constant("Tus-Version")
  /// `Upload-Checksum` (tus 1.0.0).
  public static let uploadChecksum = constant("Upload-Checksum")
  /// `Upload-Complete` (draft-ietf-httpbis-resumable-upload).
  public static let uploadComplete = constant("Upload-Complete")
  /// `Upload-Concat` (tus 1.0.0).
  public static let uploadConcat = constant("Upload-Concat")
  /// `Upload-Defer-Length` (tus 1.0.0).
  public static let uploadDeferLength = constant("Upload-Defer-Length")
  /// `Upload-Draft-Interop-Version` (draft-ietf-httpbis-resumable-upload).
  public static let uploadDraftInteropVersion = constant("Upload-Draft-Interop-Version")
  /// `Upload-Expires` (tus 1.0.0).
  public static let uploadExpires = constant("Upload-Expires")
  /// `Upload-Incomplete` (draft-ietf-httpbis-resumable-upload-01).
  public static let uploadIncomplete = constant("Upload-Incomplete")
  /// `Upload-Length` (tus 1.0.0, draft-ietf-httpbis-resumable-upload).
  public static let uploadLength = constant("Upload-Length")
  /// `Upload-Limit` (draft-ietf-httpbis-resumable-upload).
  public static let uploadLimit = constant("Upload-Limit")
  /// `Upload-Metadata` (tus 1.0.0).
  public static let uploadMetadata = constant("Upload-Metadata")
  /// `Upload-Offset` (tus 1.0.0, draft-ietf-httpbis-resumable-upload).
  public static let uploadOffset = constant("Upload-Offset")
  /// `Want-Repr-Digest` (RFC 9530 §4).
  public static let wantReprDigest = constant("Want-Repr-Digest")
  /// `X-HTTP-Method-Override` (tus 1.0.0).
  public static let xHTTPMethodOverride = constant("X-HTTP-Method-Override")
  /// `X-Request-Id`: identifies the request in responses and logs.
  public static let xRequestID = constant("X-Request-Id")
  /// `X-Requested-With`, which scripts of web pages send.
  public static let xRequestedWith = constant("X-Requested-With")

  /// The field name `text`, which must be a valid one.
  package static func constant(_ text: StaticString) -> HTTPField.Name {
    guard let name = HTTPField.Name("\(text)") else { preconditionFailure("no field name: \(text)") }
    return name
  }
}
