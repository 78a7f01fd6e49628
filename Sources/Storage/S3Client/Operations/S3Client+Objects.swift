package import Foundation
import HTTPClient
import HTTPTypes
import HTTPSemantics

/// The version of an object, as a condition of a later request names it.
package struct S3ETag: Sendable, Hashable {
  /// The value without quotation marks.
  package let value: String

  /// Reads a field or an element, with or without quotation marks; `nil` if it is empty.
  package init?(_ text: String) {
    let value =
      text.hasPrefix("\"") && text.hasSuffix("\"") && text.count > 1 ? text.dropFirst().dropLast() : text[...]
    guard !value.isEmpty else { return nil }
    self.value = String(value)
  }

  /// A version that no object has: versions are digests, or digests and a number of parts.
  static let never = S3ETag(unquoted: "none")

  private init(unquoted value: String) { self.value = value }

  /// The value in quotation marks, as in RFC 9110.
  var quoted: String { "\"\(value)\"" }
}

/// The properties of an object.
package struct S3ObjectInfo: Sendable, Hashable {
  /// The length of the object in bytes; `nil` if the answer does not state it.
  package let size: Int64?
  /// The version.
  package let etag: S3ETag
}

extension S3Client {
  /// Reads an object of at most `limit` bytes into memory. Throws an error with ``S3Error/isNotFound``.
  package func get(_ key: String, limit: Int) async throws(S3Error) -> (bytes: Data, info: S3ObjectInfo) {
    let response = try await read(S3Request(.get, key), limit: limit)
    return (response.body, try S3ObjectInfo(response.head))
  }

  /// Reads a range of bytes of an object into memory. Throws an error with ``S3Error/isNotFound``, or with status 416 if
  /// the object ends before the range.
  package func get(_ key: String, range: Range<Int64>) async throws(S3Error) -> Data {
    guard !range.isEmpty, range.lowerBound >= 0 else { throw .invalidRequest("the range is empty") }
    let request = S3Request(
      .get, key, fields: [.range: "bytes=\(range.lowerBound)-\(range.upperBound - 1)"])
    let response = try await read(request, limit: range.count)
    guard response.head.status == .partialContent,
      let sent = response.head.headerFields[.contentRange].flatMap(ContentRange.init),
      sent.first == range.lowerBound
    else { throw .malformedAnswer("it has another range") }
    return response.body
  }

  /// Sends a request whose answer has at most `limit` bytes, unless it is an error.
  private func read(_ request: S3Request, limit: Int) async throws(S3Error) -> TransportResponse {
    let response = try await send(request, to: .memory(limit: max(limit, S3Limits.errorBytes)))
    guard response.body.count <= limit else { throw .transport(.responseTooLarge(limit: Int64(limit))) }
    return response
  }

  /// Reads an object into a file, which is created if it does not exist. Throws an error with ``S3Error/isNotFound``.
  package func download(
    _ key: String, to file: URL, limit: Int64 = .max
  ) async throws(S3Error) -> S3ObjectInfo {
    let response = try await send(S3Request(.get, key), to: .file(file, offset: 0, limit: limit))
    return try S3ObjectInfo(response.head)
  }

  /// Returns length and version of an object. Throws an error with ``S3Error/isNotFound``.
  package func head(_ key: String) async throws(S3Error) -> S3ObjectInfo {
    try S3ObjectInfo(try await send(S3Request(.head, key)).head)
  }

  /// Writes an object, and replaces a previous one. If it throws, the object may have been written.
  @discardableResult
  package func put(_ key: String, _ body: S3Body) async throws(S3Error) -> S3ETag {
    try S3ObjectInfo(try await send(S3Request(.put, key, body: body)).head).etag
  }

  /// Deletes an object. Succeeds if there is none.
  package func delete(_ key: String) async throws(S3Error) {
    do {
      _ = try await send(S3Request(.delete, key))
    } catch {
      guard error.isNotFound else { throw error }
    }
  }
}

extension S3ObjectInfo {
  init(_ head: HTTPResponse) throws(S3Error) {
    guard let etag = head.headerFields[.eTag].flatMap(S3ETag.init) else {
      throw .malformedAnswer("it has no ETag")
    }
    self.init(size: head.headerFields[.contentLength].flatMap { Int64($0) }, etag: etag)
  }
}
