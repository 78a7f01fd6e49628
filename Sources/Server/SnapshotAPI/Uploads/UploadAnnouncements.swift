package import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotService

/// Adds the fields of the upload protocols to every response of their endpoints, including refusals, and allows pages
/// of other origins to read these responses.
package final class UploadAnnouncements: Middleware {
  private let uploads: ResumableUploads?
  /// The protocols of the endpoints that have one, with the endpoints' names, and by their path templates. The names are
  /// in an array, because comparing a few lengths is faster than hashing a text.
  private let endpointProtocols: [(name: String, announced: UploadProtocol)]
  private let templateProtocols: [String: UploadProtocol]
  /// The methods that pages of other origins may use, for the calls that attach and for uploads.
  private let attachMethods: [HTTPRequest.Method]
  private let uploadMethods: [HTTPRequest.Method]
  private let router: Router

  /// Announces `uploads` in the responses of those `endpoints` that have a protocol. `router` routes to the same
  /// endpoints.
  package init(_ uploads: ResumableUploads?, _ endpoints: [Endpoint], _ router: Router) {
    self.uploads = uploads
    self.router = router
    let announced = endpoints.compactMap { endpoint in endpoint.uploads.map { (endpoint, $0) } }
    endpointProtocols = announced.map { ($0.name, $1) }
    templateProtocols = Dictionary(announced.map { ($0.template, $1) }) { first, _ in first }
    attachMethods = Self.methods(announced.filter { $1 == .attach }.map(\.0))
    uploadMethods = Self.methods(announced.filter { $1 != .attach }.map(\.0))
  }

  package func respond(
    to request: HTTPServerRequest, next: Responder<HTTPServerRequest>
  ) async throws -> HTTPServerResponse {
    do {
      var response = try await next(request)
      addFields(to: &response.headerFields, of: request)
      return response
    } catch var problem as HTTPProblem {
      addFields(to: &problem.headerFields, of: request)
      throw problem
    }
  }

  /// Adds the fields to a response. The router has set the request's route, if there is one.
  private func addFields(to fields: inout HTTPFields, of request: HTTPServerRequest) {
    guard let uploads, let announced = announced(for: request) else { return }
    for field in own(uploads, announced, request.method) {
      if field.name == .acceptPatch, let other = fields[.acceptPatch], !other.contains(field.value) {
        fields[.acceptPatch] = other + ", " + field.value
      } else {
        fields[field.name] = field.value
      }
    }
    for field in crossOrigin(uploads.configuration.origins, announced, request) {
      fields[field.name] = field.value
    }
  }

  /// Returns the protocol that the response to `request` announces. `OPTIONS` and refused methods match no endpoint.
  /// For them the path's template determines the protocol, and for unknown paths below the path of uploads the prefix.
  private func announced(for request: HTTPServerRequest) -> UploadProtocol? {
    if let route = request.context?.route {
      return endpointProtocols.first { Self.areEqual($0.name, route.name) }?.announced
    }
    let (path, method) = (request.path, request.method)
    switch router.template(of: path).flatMap({ templateProtocols[$0] }) {
    case .attach: return method == .options || attachMethods.contains(method) ? .attach : nil
    case let other?: return other
    case nil where path.hasPrefix(ResumableUploads.draftPath + "/"): return .draft
    case nil: return path.hasPrefix(ResumableUploads.path + "/") ? .tus : nil
    }
  }

  private static func areEqual(_ first: String, _ second: String) -> Bool {
    first.utf8.count == second.utf8.count && first == second
  }

  private func own(
    _ uploads: ResumableUploads, _ announced: UploadProtocol, _ method: HTTPRequest.Method
  ) -> HTTPFields {
    switch (announced, method) {
    case (.tus, .options): Tus.offer(uploads.service.limits)
    // A client of another version needs to know which one the server supports.
    case (.tus, _): [.tusResumable: Tus.version]
    case (_, .options):
      [.uploadLimit: uploads.limit().fieldValue, .acceptPatch: DraftDialect.mediaType]
    case (.draft, _), (.attach, _): [:]
    }
  }

  // MARK: Pages of other origins

  /// Returns the fields that allow a page to read the response (Fetch §3.2). Credentials are never allowed: a page
  /// uploads with its own token, not with the browser's cookies.
  private func crossOrigin(
    _ origins: AllowedOrigins, _ announced: UploadProtocol, _ request: HTTPServerRequest
  ) -> HTTPFields {
    guard let origin = request.headerFields[.origin] else { return [:] }
    var fields: HTTPFields = [:]
    if origins != .all { fields[.vary] = "Origin" }
    guard let allowed = origins.answer(to: origin) else { return fields }
    fields[.accessControlAllowOrigin] = allowed
    fields[.accessControlExposeHeaders] = Self.exposed
    if request.method == .options, request.headerFields[.accessControlRequestMethod] != nil {
      let methods = (announced == .attach ? attachMethods : uploadMethods) + [.options]
      fields[.accessControlAllowMethods] = methods.map(\.rawValue).joined(separator: ", ")
      fields[.accessControlAllowHeaders] = Self.taken
      fields[.accessControlMaxAge] = "86400"
    }
    return fields
  }

  /// Returns the methods of `endpoints` without duplicates.
  private static func methods(_ endpoints: [Endpoint]) -> [HTTPRequest.Method] {
    var methods: [HTTPRequest.Method] = []
    for method in endpoints.flatMap({ $0.method == .get ? [.head, .get] : [$0.method] })
    where !methods.contains(method) { methods.append(method) }
    return methods
  }

  private static let exposed = names([
    .location, .link, .retryAfter, .xRequestID, .tusResumable, .tusVersion, .tusExtension, .tusMaxSize,
    .tusChecksumAlgorithm, .uploadOffset, .uploadLength, .uploadDeferLength, .uploadMetadata, .uploadConcat,
    .uploadExpires, .uploadComplete, .uploadIncomplete, .uploadLimit, .uploadDraftInteropVersion,
    .acceptPatch, .rateLimit, .rateLimitPolicy,
  ])

  private static let taken = names([
    .authorization, .contentType, .contentDigest, .reprDigest, .ifMatch, .ifNoneMatch, .snapshotExpires,
    .xRequestID, .xRequestedWith, .xHTTPMethodOverride, .tusResumable, .uploadOffset, .uploadLength,
    .uploadDeferLength, .uploadMetadata, .uploadConcat, .uploadChecksum, .uploadComplete, .uploadIncomplete,
    .uploadDraftInteropVersion, .traceParent,
  ])

  private static func names(_ names: [HTTPField.Name]) -> String {
    names.map(\.rawName).joined(separator: ", ")
  }
}
