import Foundation
package import HTTPEngine
import HTTPSemantics
package import HTTPTypes
import SnapshotFormat

/// A tus client for tests.
extension TestAPI {
  /// The media type of the bytes of an upload.
  package static let tusType = "application/offset+octet-stream"

  /// Sends a request of tus 1.0.0.
  @discardableResult
  package func tus(
    _ method: HTTPRequest.Method, _ path: String = "/v1/uploads", _ fields: HTTPFields = [:],
    body: HTTPRequestBody = .empty
  ) async throws -> Answer {
    var all: HTTPFields = [.tusResumable: "1.0.0"]
    for field in fields { all[field.name] = field.value }
    return try await send(method, path, all, body: body)
  }

  /// Creates an upload of `length` bytes, or with a deferred length, and returns its path.
  package func open(
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

  /// Sends a request for a new upload.
  @discardableResult
  package func tus(_ method: HTTPRequest.Method, fields: HTTPFields) async throws -> Answer {
    try await tus(method, "/v1/uploads", fields)
  }

  /// Appends bytes to an upload.
  @discardableResult
  package func patch(
    _ path: String, at offset: Int, _ bytes: some Collection<UInt8>, _ fields: HTTPFields = [:],
    isChunked: Bool = false
  ) async throws -> Answer {
    var fields = fields
    fields[.uploadOffset] = "\(offset)"
    if fields[.contentType] == nil { fields[.contentType] = Self.tusType }
    return try await tus(.patch, path, fields, body: .pieces(of: Array(bytes), isChunked: isChunked))
  }

  /// The value of `Upload-Metadata` for these keys and values.
  package static func metadata(_ pairs: [(String, String)]) -> String {
    pairs.map { $0 + " " + Data($1.utf8).base64EncodedString() }.joined(separator: ",")
  }

  /// An upload that was not created, and why.
  package struct RawFailure: Error, CustomStringConvertible {
    package let description: String
  }
}
