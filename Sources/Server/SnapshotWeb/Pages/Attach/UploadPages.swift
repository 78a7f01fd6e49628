import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotAPI
import SnapshotFormat
import SnapshotService
import SnapshotStore

/// The uploads of the pages: a form that sends a bundle in one request, and resumable uploads for the script.
///
/// A session is not valid for calls of the API, so the calls of tus that the script needs are also pages: the same
/// handlers, for a visitor instead of a token.
struct UploadPages: Sendable {
  /// The calls that the script makes.
  private static let scriptCalls: Set<String> = ["openUpload", "readUpload", "appendToUpload", "endUpload"]

  private let pages: PageMaker
  private let service: SnapshotService
  private let limits: ServiceLimits
  private let calls: [Endpoint]

  /// - Parameter calls: the calls of the API for uploads; those of tus become pages.
  init(_ pages: PageMaker, _ service: SnapshotService, limits: ServiceLimits, calls: [Endpoint]) {
    self.pages = pages
    self.service = service
    self.limits = limits
    self.calls = calls.filter { $0.uploads == .tus && Self.scriptCalls.contains($0.id) }
  }

  /// Whether a script can upload in several requests.
  var areResumable: Bool { !calls.isEmpty }

  /// All endpoints.
  var endpoints: [Endpoint] {
    [.page(.attachSnapshot, .post, "/reports/{report}/snapshots", .attach, handler: attach)]
      + calls.compactMap(page)
  }

  /// Attaches the bundle of a form, and redirects to its page.
  private func attach(_ call: PageCall) async throws -> HTTPServerResponse {
    try pages.requireOwnPage(call)
    let attachment = Attachment(report: try call.value(of: .report))
    let publication = try await service.receive(attachment, call.asAPI, limits: limits) { received in
      let token = received.metadata.removeValue(forKey: PageField.formToken.rawValue)
      try pages.requireGenuine(token ?? "", call)
      // Browsers send empty fields.
      received.metadata = received.metadata.filter { !$0.value.isEmpty }
    }
    call.asAPI.concerns(publication.record)
    var ending = RequestContext.Ending.repeated
    if case .created = publication { ending = .created }
    call.request.context?.update { [ending] in $0.ending = ending }
    return .seeOther(PagePath.snapshot(publication.record.id).description(after: .attached))
  }

  /// Returns the page that handles `call` for a visitor.
  private func page(_ call: Endpoint) -> Endpoint? {
    guard case .call(let handler) = call.handler, let action = call.action,
      let template = Self.template(call.template)
    else { return nil }
    return Endpoint.page(action, call.method, template, call.permission) { page in
      if CrossSiteRule.changesState(page.request.method) {
        try pages.requireOwnPage(page)
        try pages.requireGenuine(page.request.headerFields[.snapshotFormToken] ?? "", page)
      }
      var response = try await handler(page.asAPI)
      if let location = response.headerFields[.location], let id = location.split(separator: "/").last {
        response.headerFields[.location] = "\(PagePath.uploads)/\(id)"
      }
      return response
    }
  }

  /// Returns the page's path template for that of a call: `/uploads/{upload}` for `/v1/uploads/{upload}`.
  private static func template(_ call: String) -> String? {
    let path = PagePath.uploads.description
    return call.hasPrefix("/v1\(path)") ? path + call.dropFirst("/v1\(path)".count) : nil
  }
}

extension HTTPField.Name {
  /// `Snapshot-Form-Token`: the form token of the page whose script sends the request.
  static let snapshotFormToken = constant("Snapshot-Form-Token")
}
