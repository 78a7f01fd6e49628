import Foundation
package import HTTPEngine
import HTTPSemantics
package import HTTPTypes
import SnapshotFormat

/// An encoded JSON document to send to a client.
package struct JSONBody {
  let bytes: [UInt8]

  /// Encodes `value` in the common format of all JSON in this project.
  package init(_ value: some Encodable) throws { bytes = Array(try SnapshotJSON.encode(value)) }

  /// Returns a response that caches must revalidate.
  package func response(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:]) -> HTTPServerResponse {
    var fields = fields
    fields[.contentType] = "application/json"
    fields[.cacheControl] = "private, no-cache"
    return HTTPServerResponse(status: status, headerFields: fields, body: .bytes(bytes))
  }

  /// The document as a representation with its digest as the entity tag.
  var representation: Representation { representation(adding: [:]) }

  /// The document as a representation with additional fields.
  func representation(adding more: HTTPFields) -> Representation {
    var fields: HTTPFields = [.cacheControl: "private, no-cache"]
    fields.append(contentsOf: more)
    return Representation(
      .bytes(bytes), contentType: "application/json",
      entityTag: .strong(ContentDigest.of(bytes).description),
      // Part of a JSON document is of no use.
      hasRanges: false, headerFields: fields)
  }
}
