import Crypto
package import Foundation
import HTTPSemantics
package import HTTPTypes
import SystemIO

/// Signs requests to S3 with AWS Signature Version 4. It is a value and does no I/O.
///
/// The path of a request must be encoded as ``S3Encoding`` does. Its query can be in any order; a name without a value
/// counts as one with an empty value.
package struct RequestSigner: Sendable {
  /// The digest of a request without a body.
  package static let emptyBody = S3Encoding.hexadecimal(SHA256.hash(data: Data()))

  private static let algorithm = "AWS4-HMAC-SHA256"
  private let credentials: S3Credentials
  private let region: String
  private let service = "s3"

  /// Creates a signer for requests to `region`.
  package init(credentials: S3Credentials, region: String) {
    self.credentials = credentials
    self.region = region
  }

  /// Returns `request` with the fields `X-Amz-Date`, `X-Amz-Content-Sha256`, `Authorization` and, for temporary
  /// credentials, `X-Amz-Security-Token`. All other fields of the request are signed too, and so is its authority.
  /// - Parameters:
  ///   - request: the request, with authority and path.
  ///   - bodyDigest: the SHA-256 of the body in hexadecimal digits.
  ///   - date: the present time. Stores refuse requests that are more than 15 minutes old.
  package func signed(_ request: HTTPRequest, bodyDigest: String, at date: Date) -> HTTPRequest {
    let time = SigningTime(date)
    var request = request
    request.headerFields[.amzDate] = time.stamp
    request.headerFields[.amzContentSHA256] = bodyDigest
    request.headerFields[.amzSecurityToken] = credentials.sessionToken
    let canonical = CanonicalRequest(request, bodyDigest: bodyDigest)
    request.headerFields[.authorization] =
      "\(Self.algorithm) Credential=\(credentials.accessKey)/\(scope(time)),"
      + "SignedHeaders=\(canonical.signedNames),Signature=\(signature(of: canonical, time))"
    return request
  }

  /// Returns the path and query of `request` with a signature that permits anybody to send it. Only the authority is
  /// signed besides, so the request must have no fields.
  /// - Parameters:
  ///   - request: the request, with authority and path.
  ///   - lifetime: how long the result is valid, in seconds, 1 to 604,800.
  ///   - date: the time from which the result is valid.
  package func presigned(_ request: HTTPRequest, lifetime: Int, at date: Date) -> String {
    let time = SigningTime(date)
    var request = request
    let target = S3Target(request.path ?? "/")
    var query = target.query
    query += [
      ("X-Amz-Algorithm", Self.algorithm), ("X-Amz-Credential", "\(credentials.accessKey)/\(scope(time))"),
      ("X-Amz-Date", time.stamp), ("X-Amz-Expires", "\(lifetime)"), ("X-Amz-SignedHeaders", "host"),
    ].map { ($0.0, S3Encoding.encode($0.1)) }
    if let token = credentials.sessionToken {
      query.append(("X-Amz-Security-Token", S3Encoding.encode(token)))
    }
    request.path = S3Target(path: target.path, query: query).description
    request.headerFields = [:]
    let canonical = CanonicalRequest(request, bodyDigest: "UNSIGNED-PAYLOAD")
    return "\(canonical.target)&X-Amz-Signature=\(signature(of: canonical, time))"
  }

  private func scope(_ time: SigningTime) -> String { "\(time.day)/\(region)/\(service)/aws4_request" }

  private func signature(of canonical: CanonicalRequest, _ time: SigningTime) -> String {
    let digest = S3Encoding.hexadecimal(SHA256.hash(data: Data(canonical.text.utf8)))
    let text = [Self.algorithm, time.stamp, scope(time), digest].joined(separator: "\n")
    var key = SymmetricKey(data: Data("AWS4\(credentials.secretKey)".utf8))
    for part in [time.day, region, service, "aws4_request"] {
      key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: key))
    }
    return S3Encoding.hexadecimal(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
  }
}

/// The form of a request that client and server compute independently, so that both sign the same bytes.
private struct CanonicalRequest {
  /// The path, and the query in canonical order.
  let target: S3Target
  /// The names of the signed fields in lower case, separated by semicolons.
  let signedNames: String
  let text: String

  init(_ request: HTTPRequest, bodyDigest: String) {
    var fields: [String: [String]] = ["host": [request.authority ?? ""]]
    for field in request.headerFields {
      fields[field.name.canonicalName, default: []].append(Self.collapsingSpaces(in: field.value))
    }
    let names = fields.keys.sorted { (left: String, right: String) in
      left.utf8.lexicographicallyPrecedes(right.utf8)
    }
    signedNames = names.joined(separator: ";")
    target = S3Target(request.path ?? "/").sorted
    let lines = names.map { "\($0):\(fields[$0, default: []].joined(separator: ","))\n" }
    text = [
      request.method.rawValue, target.path, target.queryText, lines.joined(), signedNames, bodyDigest,
    ].joined(separator: "\n")
  }

  /// Removes white space at both ends, and replaces every other run of it by one space.
  private static func collapsingSpaces(in value: String) -> String {
    value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
  }
}

/// The time of a signature in the two forms that are signed.
private struct SigningTime {
  /// Such as `20130524T000000Z`.
  let stamp: String
  /// Such as `20130524`.
  let day: String

  init(_ date: Date) {
    let seconds = date.timeIntervalSince1970.rounded(.down)
    let text = UTCTime(secondsSince1970: seconds).description
    stamp = text.prefix { $0 != "." }.filter { $0 != "-" && $0 != ":" } + "Z"
    day = String(stamp.prefix(8))
  }
}

extension HTTPField.Name {
  fileprivate static let amzDate = constant("X-Amz-Date")
  fileprivate static let amzContentSHA256 = constant("X-Amz-Content-Sha256")
  fileprivate static let amzSecurityToken = constant("X-Amz-Security-Token")
}
