import Crypto
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import S3Client
import SystemIO

/// A request to a ``FakeS3Server``, decoded.
struct FakeS3Request {
  let method: HTTPRequest.Method
  /// Empty for a request to the bucket.
  let key: String
  let query: [String: String]
  let fields: HTTPFields
  let body: Data
  private let authority: String
  private let target: String

  /// Whether a request is one to this bucket.
  static func names(_ request: HTTPServerRequest, _ bucket: String) -> Bool {
    request.path == "/\(bucket)" || request.path.hasPrefix("/\(bucket)/")
  }

  /// `nil` if the request is not encoded correctly.
  init?(_ request: HTTPServerRequest, _ body: Data) {
    let parts = request.path.dropFirst().split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    var query: [String: String] = [:]
    for item in (request.query ?? "").split(separator: "&") {
      let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2, let name = Self.decode(pair[0]), let value = Self.decode(pair[1]) else {
        return nil
      }
      query[name] = value
    }
    guard let key = Self.decode(parts.count == 2 ? parts[1] : "") else { return nil }
    method = request.method
    self.key = key
    self.query = query
    fields = request.headerFields
    self.body = body
    authority = request.authority
    target = request.path + (request.query.map { "?\($0)" } ?? "")
  }

  private static func decode(_ text: Substring) -> String? {
    do { return try PercentCoding.decode(text) } catch { return nil }
  }

  /// The answer to a request whose signature, token or digest is wrong; `nil` if all are right.
  func refusal(of credentials: S3Credentials?) -> HTTPServerResponse? {
    guard let credentials else { return Self.forbidden }
    if query["X-Amz-Signature"] != nil { return isPresigned(by: credentials) ? nil : Self.forbidden }
    guard isSigned(by: credentials) else { return Self.forbidden }
    guard let signedAt, abs(signedAt.timeIntervalSinceNow) < 900 else { return Self.tooSkewed }
    let digest = S3Encoding.hexadecimal(SHA256.hash(data: body))
    return fields[Self.digestName] == digest ? nil : Self.forbidden
  }

  private static let forbidden = HTTPServerResponse(
    status: .forbidden,
    body: .bytes(Array("<Error><Code>SignatureDoesNotMatch</Code></Error>".utf8)))

  private static let tooSkewed = HTTPServerResponse(
    status: .forbidden, body: .bytes(Array("<Error><Code>RequestTimeTooSkewed</Code></Error>".utf8)))

  private static let digestName = HTTPField.Name("x-amz-content-sha256") ?? .contentType
  private static let dateName = HTTPField.Name("x-amz-date") ?? .date
  private static let tokenName = HTTPField.Name("x-amz-security-token") ?? .authorization

  /// Signs what was received in the same way, and compares.
  private func isSigned(by credentials: S3Credentials) -> Bool {
    guard let authorization = fields[.authorization], let date = signedAt,
      let names = authorization.split(separator: ",").first(where: { $0.hasPrefix("SignedHeaders=") })?
        .dropFirst("SignedHeaders=".count).split(separator: ";")
    else { return false }
    var request = HTTPRequest(method: method, scheme: "http", authority: authority, path: target)
    for field in fields where names.contains(field.name.canonicalName[...]) {
      request.headerFields.append(field)
    }
    for name in [Self.digestName, Self.dateName, Self.tokenName] { request.headerFields[name] = nil }
    let again = RequestSigner(credentials: credentials, region: "us-east-1")
      .signed(request, bodyDigest: fields[Self.digestName] ?? "", at: date)
    return again.headerFields[.authorization] == authorization
  }

  /// Presigns the same target, and compares.
  private func isPresigned(by credentials: S3Credentials) -> Bool {
    guard let date = Self.date(query["X-Amz-Date"]),
      let lifetime = query["X-Amz-Expires"].flatMap({ Int($0) }),
      Date() < date + Double(lifetime)
    else { return false }
    let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
    let items = parts[1].split(separator: "&").filter { !$0.hasPrefix("X-Amz-") }
    let bare = parts[0] + (items.isEmpty ? "" : "?\(items.joined(separator: "&"))")
    let request = HTTPRequest(method: method, scheme: "http", authority: authority, path: bare)
    return RequestSigner(credentials: credentials, region: "us-east-1")
      .presigned(request, lifetime: lifetime, at: date) == target
  }

  private var signedAt: Date? { Self.date(fields[Self.dateName]) }

  private static func date(_ text: String?) -> Date? {
    // As in 20261121T150405Z.
    guard var digits = text.map({ Array($0.utf8) }), digits.count == 16 else { return nil }
    for (place, mark) in [(13, ":"), (11, ":"), (6, "-"), (4, "-")] {
      digits.insert(contentsOf: mark.utf8, at: place)
    }
    return UTCTime.milliseconds(rfc3339: digits[...]).map {
      Date(timeIntervalSince1970: Double($0) / 1000)
    }
  }
}
