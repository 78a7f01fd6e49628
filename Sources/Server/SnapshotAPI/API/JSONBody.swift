import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat

/// A JSON document on its way to a client.
struct JSONBody {
  let bytes: [UInt8]

  /// Encodes `value` as all JSON of the project is encoded.
  init(_ value: some Encodable) throws { bytes = Array(try SnapshotJSON.encode(value)) }

  /// An answer that caches ask for again each time.
  func response(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:]) -> HTTPServerResponse {
    var fields = fields
    fields[.contentType] = "application/json"
    fields[.cacheControl] = "private, no-cache"
    return HTTPServerResponse(status: status, headerFields: fields, body: .bytes(bytes))
  }

  /// The document as what a resource holds now, named by its digest.
  var representation: Representation {
    var representation = Representation(
      .bytes(bytes), contentType: "application/json",
      entityTag: .strong(ContentDigest.of(bytes).description),
      headerFields: [.cacheControl: "private, no-cache"])
    // Half a document is none.
    representation.hasRanges = false
    return representation
  }
}
