import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotAPI
import SnapshotFormat
import SnapshotService
import SnapshotStore

/// The page behind a link to attach, and the page on which a report's links are made and revoked.
///
/// The page accepts the secret of the link and no session, and shows nothing but the id of the report. Its script uploads
/// by calls of the API with the same secret.
struct AttachPages: Sendable {
  private let pages: PageMaker
  private let service: SnapshotService
  private let access: AccessPolicy
  private let limits: ServiceLimits
  private let uploadsAreResumable: Bool

  init(
    _ pages: PageMaker, _ service: SnapshotService, access: AccessPolicy, limits: ServiceLimits,
    uploadsAreResumable: Bool
  ) {
    self.pages = pages
    self.service = service
    self.access = access
    self.limits = limits
    self.uploadsAreResumable = uploadsAreResumable
  }

  /// All endpoints.
  var endpoints: [Endpoint] {
    [
      .page(.openAttachLink, .get, "/attach", .open, handler: show),
      .page(.attachSnapshot, .post, "/attach", .open, handler: attach),
      .page(.listAttachLinks, .get, "/reports/{report}/links", .attach, handler: list),
      .page(.createAttachLink, .post, "/reports/{report}/links", .read, handler: make),
      .page(.revokeAttachLink, .post, "/reports/{report}/links/{link}/revoke", .read, handler: revoke),
    ]
  }

  // MARK: - For people with a link

  private func show(_ call: PageCall) async throws -> HTTPServerResponse {
    let query = try call.query([PageField.link, .done].map(\.rawValue))
    let (link, secret, _) = try await open(call)
    let notice = try query.value(PageField.done.rawValue).flatMap(PageNotice.init)
    let page = AttachPage(link: link, secret: secret, isResumable: uploadsAreResumable)
    var response = try await pages.render(nil, below: call.request.basePath, notice: notice) {
      renderer, frame in
      var frame = frame
      frame.isForGuests = true
      return renderer.render(page, in: frame)
    }
    response.allowRequestsOfScripts()
    return response
  }

  /// Attaches the bundle of the form, and shows the page again.
  private func attach(_ call: PageCall) async throws -> HTTPServerResponse {
    try pages.requireOwnPage(call)
    let (link, secret, caller) = try await open(call)
    let api = APIRequest(call.routed, caller: caller)
    let attachment = Attachment(report: link.link.report)
    let publication = try await service.receive(attachment, api, limits: limits) { received in
      // Browsers send empty fields.
      received.metadata = received.metadata.filter { !$0.value.isEmpty }
    }
    api.concerns(publication.record)
    var ending = RequestContext.Ending.repeated
    if case .created = publication { ending = .created }
    call.request.context?.update { [ending] in $0.ending = ending }
    return .seeOther(PagePath.attachLink(secret).description(after: .attached))
  }

  /// Returns the link in the query, and what its caller may do.
  private func open(_ call: PageCall) async throws -> (AttachLinkState, secret: String, Caller) {
    let secret = try call.routed.query().value(PageField.link.rawValue) ?? ""
    let (link, caller) = try await access.attachLink(secret, call.request)
    call.request.context?.update { $0.report = link.link.report }
    return (link, secret, caller)
  }

  // MARK: - For those who make links

  private func list(_ call: PageCall) async throws -> HTTPServerResponse {
    let report = try call.value(of: .report)
    let notice = try call.query([PageField.done.rawValue]).value(PageField.done.rawValue)
      .flatMap(PageNotice.init)
    let links = try await access.attachLinks(to: report, for: call.caller).filter { $0.state == .valid }
    let page = AttachLinksPage(
      report: report, valid: links, revocable: Set(links.filter(call.caller.mayRevoke).map(\.token.id)))
    return try await pages.render(page, for: call.visitor, notice: notice)
  }

  private func make(_ call: PageCall) async throws -> HTTPServerResponse {
    let form = try await pages.form(of: call)
    let report = try call.value(of: .report)
    let (link, secret) = try await access.makeAttachLink(
      to: report, seconds: Int(try form[.seconds]) ?? 0, count: Int(try form[.count]) ?? 0,
      bytes: Int64(try form[.bytes]) ?? 0, for: call.caller)
    let address = PageOrigin(call.request).description + PagePath.attachLink(secret).description
    return try await pages.render(NewAttachLinkPage(link: link, address: address), for: call.visitor)
  }

  private func revoke(_ call: PageCall) async throws -> HTTPServerResponse {
    _ = try await pages.form(of: call)
    let report = try call.value(of: .report)
    try await access.revokeAttachLink(call.value(of: .link), to: report, for: call.caller)
    return .seeOther(PagePath.attachLinks(report).description(after: .linkRevoked))
  }
}
