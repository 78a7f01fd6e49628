public import HTTPTypes

extension HTTPField.Name {
  /// `Accept-Patch` (RFC 5789 §3.1).
  public static let acceptPatch = constant("Accept-Patch")
  /// `Accept-Post` (W3C LDP §7.1).
  public static let acceptPost = constant("Accept-Post")
  /// `Content-Digest` (RFC 9530 §2).
  public static let contentDigest = constant("Content-Digest")
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
  /// `Snapshot-Expires`: when the snapshot that is attached is to go by itself.
  public static let snapshotExpires = constant("Snapshot-Expires")
  /// `Want-Repr-Digest` (RFC 9530 §4).
  public static let wantReprDigest = constant("Want-Repr-Digest")
  /// `X-Request-Id`: names the request, in answers as in logs.
  public static let xRequestID = constant("X-Request-Id")

  private static func constant(_ text: StaticString) -> HTTPField.Name {
    guard let name = HTTPField.Name("\(text)") else { preconditionFailure("\(text) is no field name") }
    return name
  }
}
