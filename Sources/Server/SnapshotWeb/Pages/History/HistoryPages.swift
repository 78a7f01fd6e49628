import AccessControl
import HTTPEngine
import HTTPTypes
import Observability
import SnapshotAPI
import SnapshotFormat
import SnapshotService
import SnapshotStore

/// The page about the history of a snapshot.
struct HistoryPages: Sendable {
  private let pages: PageMaker
  private let service: SnapshotService
  private let access: AccessPolicy
  private let history: AuditHistory?

  init(_ pages: PageMaker, _ service: SnapshotService, access: AccessPolicy, _ history: AuditHistory?) {
    self.pages = pages
    self.service = service
    self.access = access
    self.history = history
  }

  /// All endpoints.
  var endpoints: [Endpoint] {
    [.page(.readHistory, .get, "/snapshots/{id}/history", .admin, handler: show)]
  }

  private func show(_ call: PageCall) async throws -> HTTPServerResponse {
    _ = try call.query([])
    let record = try await service.record(try call.value(of: .id), visibleTo: call.caller)
    call.asAPI.concerns(record)
    guard let history else { throw HTTPProblem.noSuchPath() }
    let trail: AuditTrail
    do { trail = try await history.trail(of: record.id) } catch {
      throw StoreError(error)
    }
    let names = try await access.tokenNames(Set(trail.events.compactMap(\.token)))
    let page = HistoryPage(record: record, trail: trail, tokenNames: names)
    return try await pages.render(page, for: call.visitor)
  }
}
