import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotStore

/// The supported parts of tus 1.0.0, and the parsing of its request fields.
enum Tus {
  static let version = "1.0.0"
  /// The dialect stored in the terms of tus uploads.
  static let dialect = "tus"
  /// The media type of an upload's bytes.
  static let mediaType = "application/offset+octet-stream"

  private static let extensions = [
    "creation", "creation-with-upload", "creation-defer-length", "expiration", "checksum", "checksum-trailer",
    "termination", "concatenation",
  ]

  /// Returns the fields of the response to `OPTIONS`.
  static func offer(_ limits: UploadLimits) -> HTTPFields {
    [
      .tusResumable: version, .tusVersion: version, .tusExtension: extensions.joined(separator: ","),
      .tusMaxSize: "\(limits.length)", .tusChecksumAlgorithm: "sha1,sha256",
    ]
  }

  /// Returns the method to perform: that of `X-HTTP-Method-Override`, or the request's own. The field can't turn a safe
  /// method into one that changes state, because the request has passed the cross-site checks as a safe one.
  static func method(of request: HTTPServerRequest) throws(HTTPProblem) -> HTTPRequest.Method {
    guard let text = request.headerFields[.xHTTPMethodOverride] else { return request.method }
    guard let method = HTTPRequest.Method(text.uppercased()) else {
      throw .badRequest("\(HTTPField.Name.xHTTPMethodOverride.rawName) is not a method.")
    }
    guard CrossSiteRule.changesState(request.method) || !CrossSiteRule.changesState(method) else {
      throw .badRequest("\(request.method) can't be overridden with \(method).")
    }
    return method
  }

  /// Throws if the request is for another version of tus.
  static func checkVersion(_ fields: HTTPFields) throws(HTTPProblem) {
    guard fields[.tusResumable] == version else { throw HTTPProblem.tusVersion }
  }

  /// Returns the number of bytes in the field `name`, or `nil` if the field is missing.
  static func count(_ name: HTTPField.Name, in fields: HTTPFields) throws(HTTPProblem) -> Int64? {
    guard let text = fields[name] else { return nil }
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text) else {
      throw .badRequest("\(name.rawName) is not a number of bytes.")
    }
    return number
  }

  /// Returns whether the length is sent later. The only valid value of the field is `1`.
  static func defersLength(_ fields: HTTPFields) throws(HTTPProblem) -> Bool {
    guard let text = fields[.uploadDeferLength] else { return false }
    guard text == "1" else { throw .badRequest("Upload-Defer-Length can only be 1.") }
    return true
  }

  /// Returns the digest of the body of `request`, from the head or from an announced trailer field. Returns `nil` if
  /// there is none.
  static func checksum(_ request: HTTPServerRequest) throws(HTTPProblem) -> StatedDigest? {
    if let text = request.headerFields[.uploadChecksum] { return .before(try checksum(text)) }
    guard request.announces(trailer: .uploadChecksum) else { return nil }
    let body = request.body
    return .after { try body.trailers[.uploadChecksum].map(checksum) }
  }

  /// Parses the name of the algorithm, a space, and the digest in base64.
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

extension UploadFailure {
  /// Creates the response to `cause` for a tus client. tus defines its own statuses for some failures.
  init(tus cause: UploadError, _ fields: HTTPFields = [:]) {
    let problem: HTTPProblem? =
      switch cause {
      case .exceeded(let length): .tooLarge(limit: length, "The upload has \(length) bytes in all.")
      case .digestMismatch, .digestMissing: .damagedPart(.checksumMismatch)
      default: nil
      }
    self.init(cause, as: problem, fields)
  }
}

extension HTTPServerRequest {
  /// Returns whether the head announces the trailer field `name`. Only a body without a declared length has trailers.
  func announces(trailer name: HTTPField.Name) -> Bool {
    guard body.declaredLength == nil, let names = headerFields[.trailer] else { return false }
    return names.split(separator: ",").contains {
      $0.trimmingCharacters(in: .whitespaces).lowercased() == name.canonicalName
    }
  }
}
