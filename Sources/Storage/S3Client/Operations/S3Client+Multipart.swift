package import Foundation
import HTTPClient
import HTTPTypes

/// An upload of an object in parts. The object exists once the upload is completed.
package struct S3MultipartUpload: Sendable, Hashable {
  /// The key of the object, without the client's prefix.
  package let key: String
  /// The id of the upload.
  package let id: String

  /// Names an upload that was begun earlier.
  package init(key: String, id: String) {
    self.key = key
    self.id = id
  }
}

/// A part that a store has.
package struct S3Part: Sendable, Hashable {
  /// The position of the part: 1 to ``S3Limits/parts``.
  package let number: Int
  /// The version, which completion names.
  package let etag: S3ETag
  /// The length in bytes; `nil` if it is not known.
  package let size: Int64?

  /// Names a part that was uploaded earlier.
  package init(number: Int, etag: S3ETag, size: Int64?) {
    self.number = number
    self.etag = etag
    self.size = size
  }
}

extension S3Client {
  /// Begins an upload in parts.
  package func beginMultipart(_ key: String) async throws(S3Error) -> S3MultipartUpload {
    let document = try await document(
      of: S3Request(.post, key, query: [("uploads", "")]), named: "InitiateMultipartUploadResult")
    guard let id = document["UploadId"], !id.isEmpty else { throw .malformedAnswer("the upload has no id") }
    return S3MultipartUpload(key: key, id: id)
  }

  /// Uploads a part, and replaces a previous one with the same number. All parts but the last have at least
  /// ``S3Limits/minimumPartBytes``.
  package func uploadPart(
    _ number: Int, of upload: S3MultipartUpload, _ body: S3Body
  ) async throws(S3Error) -> S3Part {
    guard (1...S3Limits.parts).contains(number) else { throw .invalidRequest("there is no part \(number)") }
    let query = [("partNumber", "\(number)"), ("uploadId", upload.id)]
    let response = try await send(S3Request(.put, upload.key, query: query, body: body))
    return S3Part(number: number, etag: try S3ObjectInfo(response.head).etag, size: nil)
  }

  /// Lists the parts that the store has, in ascending order.
  package func parts(of upload: S3MultipartUpload) async throws(S3Error) -> [S3Part] {
    var parts: [S3Part] = []
    var marker = "0"
    while true {
      let query = [
        ("uploadId", upload.id), ("part-number-marker", marker), ("max-parts", "\(S3Limits.pageLength)"),
      ]
      let document = try await document(
        of: S3Request(.get, upload.key, query: query), named: "ListPartsResult")
      for element in document.all("Part") {
        guard let number = element["PartNumber"].flatMap({ Int($0) }),
          let etag = element["ETag"].flatMap(S3ETag.init)
        else { throw .malformedAnswer("a part in a list is incomplete") }
        parts.append(S3Part(number: number, etag: etag, size: element["Size"].flatMap { Int64($0) }))
      }
      guard document["IsTruncated"] == "true" else { return parts }
      guard let next = document["NextPartNumberMarker"], next != marker, parts.count <= S3Limits.parts else {
        throw .malformedAnswer("a list is truncated and can't be continued")
      }
      marker = next
    }
  }

  /// Makes the object of the uploaded parts, and replaces a previous object. Can be repeated if the outcome is unknown;
  /// if the upload is not found then, it was completed or aborted before.
  package func complete(_ upload: S3MultipartUpload, parts: [S3Part]) async throws(S3Error) {
    let list = parts.sorted { $0.number < $1.number }.map { part in
      "<Part><PartNumber>\(part.number)</PartNumber><ETag>\(XMLElement.escape(part.etag.quoted))</ETag></Part>"
    }
    let body =
      "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\(list.joined())"
      + "</CompleteMultipartUpload>"
    let request = S3Request(
      .post, upload.key, query: [("uploadId", upload.id)], fields: [.contentType: "application/xml"],
      body: S3Body(Data(body.utf8)))
    let response = try await send(request)
    // The store sends the head before it knows the outcome, so a response with status 200 can contain an error.
    let document: XMLElement
    do { document = try XMLElement(document: response.body) } catch { throw .malformedAnswer(error.reason) }
    if document.name == "Error" { throw .refused(S3Refusal(response)) }
  }

  /// Makes the object of the uploaded parts, which have `size` bytes together, unless it exists. So this can be repeated,
  /// also by several clients at once.
  package func assemble(
    _ upload: S3MultipartUpload, parts: [S3Part], size: Int64
  ) async throws(S3Error) {
    do {
      try await complete(upload, parts: parts)
    } catch {
      // If the answer was lost, a repetition finds that there is no such upload any more.
      guard error.isUndecided || error.isNotFound, try await head(upload.key).size == size else {
        throw error
      }
    }
  }

  /// Passes all uploads to `visit` that were neither completed nor aborted, whose keys begin with `prefix`, and that
  /// were begun before `limit`, page by page.
  package func forEachPageOfUploads(
    prefix: String, before limit: Date, _ visit: ([S3MultipartUpload]) async throws(S3Error) -> Void
  ) async throws(S3Error) {
    var marker: [(String, String)] = []
    while true {
      let query = [("uploads", ""), ("prefix", configuration.prefix + prefix), ("encoding-type", "url")]
      let document = try await document(
        of: S3Request(.get, nil, query: query + marker), named: "ListMultipartUploadsResult")
      var uploads: [S3MultipartUpload] = []
      for element in document.all("Upload") {
        guard let key = element["Key"], let id = element["UploadId"], let begun = element["Initiated"] else {
          throw .malformedAnswer("an upload in a list is incomplete")
        }
        guard try date(begun) < limit else { continue }
        uploads.append(S3MultipartUpload(key: try relativeKey(key), id: id))
      }
      try await visit(uploads)
      guard document["IsTruncated"] == "true" else { return }
      guard let key = document["NextKeyMarker"], let id = document["NextUploadIdMarker"], !id.isEmpty else {
        throw .malformedAnswer("a list is truncated and can't be continued")
      }
      marker = [("key-marker", try decodedKey(key)), ("upload-id-marker", id)]
    }
  }

  /// Ends an upload, and removes its parts. Succeeds if there is none.
  package func abort(_ upload: S3MultipartUpload) async throws(S3Error) {
    do {
      _ = try await send(S3Request(.delete, upload.key, query: [("uploadId", upload.id)]))
    } catch {
      guard error.isNotFound else { throw error }
    }
  }
}
