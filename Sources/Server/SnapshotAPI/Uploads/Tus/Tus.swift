import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotStore

/// tus 1.0.0: what is spoken of it, and how its fields are read.
enum Tus {
  static let version = "1.0.0"
  /// What its uploads are called in their terms.
  static let dialect = "tus"
  /// The type of an upload's bytes.
  static let mediaType = "application/offset+octet-stream"

  private static let extensions = [
    "creation", "creation-with-upload", "creation-defer-length", "expiration", "checksum", "checksum-trailer",
    "termination", "concatenation",
  ]

  /// The answer to `OPTIONS`.
  static func offer(_ limits: UploadLimits) -> HTTPFields {
    [
      .tusResumable: version, .tusVersion: version, .tusExtension: extensions.joined(separator: ","),
      .tusMaxSize: "\(limits.length)", .tusChecksumAlgorithm: "sha1,sha256",
    ]
  }

  /// The method that is meant: that of the field `X-HTTP-Method-Override`, where the request's own could do as much.
  /// One that changes nothing is never turned into one that does, for it passed where changes don't.
  static func method(of request: HTTPServerRequest) throws(HTTPProblem) -> HTTPRequest.Method {
    guard let text = request.headerFields[.xHTTPMethodOverride] else { return request.method }
    guard let method = HTTPRequest.Method(text.uppercased()) else {
      throw .badRequest("\(HTTPField.Name.xHTTPMethodOverride.rawName) names no method.")
    }
    guard CrossSiteRule.changesState(request.method) || !CrossSiteRule.changesState(method) else {
      throw .badRequest("\(request.method) can't stand for \(method).")
    }
    return method
  }

  /// Refuses who asks for another version, before anything is done.
  static func checkVersion(_ fields: HTTPFields) throws(HTTPProblem) {
    guard fields[.tusResumable] == version else { throw HTTPProblem.tusVersion }
  }

  /// A number of bytes, `nil` where the field is missing.
  static func count(_ name: HTTPField.Name, in fields: HTTPFields) throws(HTTPProblem) -> Int64? {
    guard let text = fields[name] else { return nil }
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text) else {
      throw .badRequest("\(name.rawName) is no number of bytes.")
    }
    return number
  }

  /// Whether the length will come later; the field takes nothing but `1`.
  static func defersLength(_ fields: HTTPFields) throws(HTTPProblem) -> Bool {
    guard let text = fields[.uploadDeferLength] else { return false }
    guard text == "1" else { throw .badRequest("Upload-Defer-Length can only be 1.") }
    return true
  }

  /// The digest of the bytes of `request`, from its head, or announced there and in its trailers.
  static func checksum(_ request: HTTPServerRequest) throws(HTTPProblem) -> StatedDigest? {
    if let text = request.headerFields[.uploadChecksum] { return .before(try checksum(text)) }
    guard request.announces(trailer: .uploadChecksum) else { return nil }
    let body = request.body
    return .after { try body.trailers[.uploadChecksum].map(checksum) }
  }

  /// `sha1 `, and the digest in base64.
  private static func checksum(_ text: String) throws(HTTPProblem) -> StatedDigest.Value {
    let parts = text.split(separator: " ", maxSplits: 1)
    let algorithms: [Substring: (StatedDigest.Value.Algorithm, count: Int)] = [
      "sha1": (.sha1, 20), "sha256": (.sha256, 32),
    ]
    guard parts.count == 2, let (algorithm, count) = algorithms[parts[0]] else {
      throw .badRequest("Upload-Checksum is sha1 or sha256, and the digest in base64.")
    }
    guard let bytes = Data(base64Encoded: String(parts[1])), bytes.count == count else {
      throw .badRequest("Upload-Checksum has no \(parts[0]) of \(count) bytes in base64.")
    }
    return StatedDigest.Value(algorithm, Array(bytes))
  }
}

extension HTTPServerRequest {
  /// Whether the head says that `name` will come behind the body.
  func announces(trailer name: HTTPField.Name) -> Bool {
    guard body.declaredLength == nil, let names = headerFields[.trailer] else { return false }
    return names.split(separator: ",").contains {
      $0.trimmingCharacters(in: .whitespaces).lowercased() == name.canonicalName
    }
  }
}
