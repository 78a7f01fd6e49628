import AccessControl
import HTTPEngine
import HTTPTypes
import Observability
import SnapshotStore

/// How far the catalogue is, as JSON.
struct IndexingAnswer: Encodable {
  enum Status: String, Encodable {
    /// Everything is answered.
    case ready
    /// Lists are refused until the catalogue is made anew.
    case indexing
    /// Nothing can be written.
    case unwritable
  }

  let status: Status
  /// The share that is done, from 0 to 1.
  var share: Double?
  /// How many records are in the catalogue already.
  var records: Int?
  /// Why nothing can be written.
  var reason: StorageFault?

  init(_ progress: CatalogIndexer.Progress?) {
    switch progress {
    case .ready, nil: status = .ready
    case .unknown: status = .indexing
    case .indexing(let share, let records):
      status = .indexing
      self.share = (share * 1000).rounded() / 1000
      self.records = records
    }
  }

  /// Nothing can be written, which is all that counts.
  init(_ fault: StorageFault) {
    status = .unwritable
    reason = fault
  }

  /// How the server fares: its storage first, which its catalogue needs too.
  static func readiness(of service: SnapshotService) async -> IndexingAnswer {
    if let fault = await service.store.fault() { return IndexingAnswer(fault) }
    // Where the catalogue fails, lists are refused until it is made once more; its own log entry says why.
    do { return IndexingAnswer(try await service.indexingProgress()) } catch {
      return IndexingAnswer(.unknown)
    }
  }

  /// 200 where everything is answered, else 503.
  func readiness() throws -> HTTPServerResponse {
    status == .ready
      ? try JSONBody(self).response(.ok)
      : try JSONBody(self).response(.serviceUnavailable, [.retryAfter: "5"])
  }
}

extension SnapshotRoutes {
  /// The calls about the catalogue.
  var indexingEndpoints: [Endpoint] {
    [
      Endpoint(
        "readReindex", .get, "/v1/reindex", .admin, "Tells how far the catalogue is.",
        responses: [.json(200, "How far it is.", .schema("Indexing"))], problems: [.callerLimited],
        handler: indexing),
      Endpoint(
        "reindex", .post, "/v1/reindex", .admin, "Has the catalogue made anew, and does not wait for it.",
        responses: [.json(202, "How far it is.", .schema("Indexing"))], problems: [.callerLimited],
        handler: reindex),
    ]
  }

  /// Says how far the catalogue is.
  func indexing(_ call: APIRequest) async throws -> HTTPServerResponse {
    try call.caller.requireUnlimited()
    return try JSONBody(IndexingAnswer(try await service.indexingProgress())).response(.ok)
  }

  /// Has the catalogue made anew, and does not wait for it.
  func reindex(_ call: APIRequest) async throws -> HTTPServerResponse {
    try call.caller.requireUnlimited()
    service.indexer?.rebuild()
    return try JSONBody(IndexingAnswer(service.indexer?.progress)).response(.accepted)
  }
}
