import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat

/// A tus client for tests.
extension TestAPI {
  static let tusType = "application/offset+octet-stream"

  /// Sends a request of tus 1.0.0.
  @discardableResult
  func tus(
    _ method: HTTPRequest.Method, _ path: String = "/v1/uploads", _ fields: HTTPFields = [:],
    body: HTTPRequestBody = .empty
  ) async throws -> Answer {
    var all: HTTPFields = [.tusResumable: "1.0.0"]
    for field in fields { all[field.name] = field.value }
    return try await send(method, path, all, body: body)
  }

  /// Creates an upload of `length` bytes, or with a deferred length, and returns its path.
  func open(
    _ length: Int?, _ metadata: [(String, String)] = [("report", "BUG-1")], _ fields: HTTPFields = [:]
  ) async throws -> String {
    var fields = fields
    if let length { fields[.uploadLength] = "\(length)" } else { fields[.uploadDeferLength] = "1" }
    fields[.uploadMetadata] = Self.metadata(metadata)
    let answer = try await tus(.post, fields: fields)
    guard answer.status == 201, let location = answer.fields[.location] else {
      throw RawFailure(description: "\(answer.status): \(answer.problem?.detail ?? "")")
    }
    return location
  }

  @discardableResult
  func tus(_ method: HTTPRequest.Method, fields: HTTPFields) async throws -> Answer {
    try await tus(method, "/v1/uploads", fields)
  }

  /// Appends bytes to an upload.
  @discardableResult
  func patch(
    _ path: String, at offset: Int, _ bytes: some Collection<UInt8>, _ fields: HTTPFields = [:],
    isChunked: Bool = false
  ) async throws -> Answer {
    var fields = fields
    fields[.uploadOffset] = "\(offset)"
    if fields[.contentType] == nil { fields[.contentType] = Self.tusType }
    return try await tus(.patch, path, fields, body: .pieces(of: Array(bytes), isChunked: isChunked))
  }

  static func metadata(_ pairs: [(String, String)]) -> String {
    pairs.map { $0 + " " + Data($1.utf8).base64EncodedString() }.joined(separator: ",")
  }

  struct RawFailure: Error, CustomStringConvertible {
    let description: String
  }
}

extension HTTPRequestBody {
  /// A body that sends `bytes` and then breaks off.
  static func breaking(_ bytes: some Collection<UInt8>, declaredLength: Int64?) -> HTTPRequestBody {
    let whole = HTTPRequestBody.pieces(of: Array(bytes), size: 100) { throw HTTPBodyError.disconnected }
    return HTTPRequestBody(declaredLength: declaredLength) {
      var iterator = whole.makeAsyncIterator()
      return try await iterator.next()
    }
  }

  /// A body of `bytes` in chunks, followed by `trailers`.
  static func chunked(_ bytes: [UInt8], trailers: HTTPFields) -> HTTPRequestBody {
    let whole = HTTPRequestBody.pieces(of: bytes)
    return HTTPRequestBody(declaredLength: nil, trailers: { trailers }) {
      var iterator = whole.makeAsyncIterator()
      return try await iterator.next()
    }
  }
}
