import Foundation
import HTTPEngine
import HTTPTypes
import SnapshotFormat
import SnapshotStore

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
    Representation(
      .bytes(bytes), contentType: "application/json",
      entityTag: .strong(ContentDigest.of(bytes).description),
      headerFields: [.cacheControl: "private, no-cache"])
  }
}

/// A record, and where its bundle is.
struct RecordAnswer: Encodable {
  private let record: SnapshotRecord

  init(_ record: SnapshotRecord) { self.record = record }

  private enum CodingKeys: CodingKey {
    case bundle
  }

  func encode(to encoder: any Encoder) throws {
    try record.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(SnapshotRoutes.path(of: record.id) + ".zip", forKey: .bundle)
  }
}

/// One page of records, and the cursor of the next one.
struct PageAnswer: Encodable {
  let snapshots: [RecordAnswer]
  let next: String?

  init(_ page: Page) {
    snapshots = page.records.map(RecordAnswer.init)
    next = page.next?.description
  }
}
