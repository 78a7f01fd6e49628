import AccessControl
import HTTPEngine
import HTTPTypes
import Observability
import SnapshotService
import SnapshotStore

/// The state of the catalogue as JSON.
struct IndexingAnswer: Encodable {
  enum Status: String, Encodable {
    /// All requests are answered.
    case ready
    /// All requests are answered. Lists may lack the last changes before a crash, and changes made while no server was
    /// running.
    case recovering
    /// Lists are refused until the catalogue is rebuilt.
    case indexing
    /// Lists are refused because the catalogue does not answer.
    case unlisted
    /// The storage is not writable.
    case unwritable
  }

  let status: Status
  /// The completed share, from 0 to 1.
  var share: Double?
  /// The number of indexed records.
  var records: Int?
  /// The reason why the storage is not writable.
  var reason: StorageFault.Reason?
  /// The file or folder of the storage that is the reason.
  var name: String?
  /// Why nothing is deleted automatically.
  var deletionsHeld: String?

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

  /// Creates the answer for storage that is not writable, whatever the state of the catalogue.
  init(_ fault: StorageFault) {
    status = .unwritable
    reason = fault.reason
    name = fault.name
  }

  /// Creates the answer for a catalogue that fails.
  init(_ error: CatalogError) {
    switch error {
    // The indexer rebuilds the catalogue, and logs the reason.
    case .incomplete, .failed, .tooManyAtOnce: status = .indexing
    case .unavailable: status = .unlisted
    }
  }

  /// Creates the answer for storage of which this share is repaired and compared with the catalogue.
  init(recovered share: Double) {
    status = .recovering
    self.share = (share * 1000).rounded() / 1000
  }

  /// Returns the readiness of the server. The storage is checked first, because the catalogue needs it too.
  static func readiness(of service: SnapshotService) async -> IndexingAnswer {
    if let fault = await service.store.fault() { return IndexingAnswer(fault) }
    do {
      let progress = try await service.indexingProgress()
      if progress == .ready, let share = service.recoveredShare { return IndexingAnswer(recovered: share) }
      return IndexingAnswer(progress)
    } catch {
      return IndexingAnswer(error)
    }
  }

  /// Returns a response with the status 200 if the server is ready, or else 503.
  func readiness() throws -> HTTPServerResponse {
    status == .ready || status == .recovering
      ? try JSONBody(self).response(.ok)
      : try JSONBody(self).response(.serviceUnavailable, [.retryAfter: "5"])
  }
}

/// The endpoints for the catalogue.
struct IndexingRoutes: Sendable {
  private let service: SnapshotService

  init(_ service: SnapshotService) { self.service = service }

  /// All endpoints.
  var endpoints: [Endpoint] {
    [
      Endpoint(
        .readReindex, .get, "/v1/reindex", .admin, "Returns the progress of indexing.",
        responses: [.json(200, "The progress.", .schema("Indexing"))], problems: [.callerLimited],
        handler: indexing),
      Endpoint(
        .reindex, .post, "/v1/reindex", .admin, "Starts rebuilding the catalogue, without waiting for it.",
        responses: [.json(202, "The progress.", .schema("Indexing"))], problems: [.callerLimited],
        handler: reindex),
    ]
  }

  /// Returns the progress of indexing.
  private func indexing(_ call: APIRequest) async throws -> HTTPServerResponse {
    try call.caller.requireUnlimited()
    return try JSONBody(IndexingAnswer(try await service.indexingProgress())).response(.ok)
  }

  /// Requests a rebuild of the catalogue, without waiting for it.
  private func reindex(_ call: APIRequest) async throws -> HTTPServerResponse {
    try call.caller.requireUnlimited()
    service.indexer?.rebuild()
    return try JSONBody(IndexingAnswer(service.indexer?.progress)).response(.accepted)
  }
}
