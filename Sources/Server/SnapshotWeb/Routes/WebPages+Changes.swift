import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotAPI
import SnapshotFormat
import SnapshotStore

extension WebPages {
  /// What forms do to a snapshot.
  var changes: [Endpoint] {
    [
      .page("deleteSnapshot", .post, Self.template(.delete), .delete, handler: delete),
      .page("changeSnapshot", .post, Self.template(.pin), .delete) {
        try await change($0, isPinned: true)
      },
      .page("changeSnapshot", .post, Self.template(.unpin), .delete) {
        try await change($0, isPinned: false)
      },
      .page("createLink", .post, Self.template(.link), .read, handler: makeLink),
    ]
  }

  private static func template(_ action: SnapshotPage.Action) -> String {
    "/snapshots/{id}/\(action.rawValue)"
  }

  private func delete(_ call: PageCall) async throws -> HTTPServerResponse {
    let record = try await changeable(call)
    try await service.delete(record.id)
    return .seeOther(PagePath.home().description(after: .deleted))
  }

  private func change(_ call: PageCall, isPinned: Bool) async throws -> HTTPServerResponse {
    let record = try await changeable(call)
    try await service.change(RecordChange(isPinned: isPinned), of: record.id)
    return .seeOther(PagePath.snapshot(record.id).description(after: isPinned ? .pinned : .unpinned))
  }

  /// The record that the form is about, if the visitor may change it.
  private func changeable(_ call: PageCall) async throws -> SnapshotRecord {
    _ = try await form(of: call)
    try await call.caller.requireValid()
    return try await SnapshotRoutes(service, limits: limits).deletable(call.asAPI)
  }

  private func makeLink(_ call: PageCall) async throws -> HTTPServerResponse {
    let seconds = try await form(of: call)[.seconds]
    try await call.caller.requireValid()
    let record = try await visible(try call.value(of: .id), to: call.caller)
    call.asAPI.concerns(record)
    let link = try LinkRoutes(service: service, access: access)
      .link(to: record.id, seconds: seconds.isEmpty ? nil : seconds)
    let page = LinkPage(
      record: record, link: PageOrigin(call.request).description + link.link, expiresAt: link.expiresAt)
    return try await render(call.visitor) { $0.render(page, in: $1) }
  }
}
