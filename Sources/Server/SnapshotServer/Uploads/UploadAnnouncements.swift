import HTTPEngine
import HTTPSemantics
import HTTPTypes

/// What answers say of resumable uploads whatever else they say, refusals included: which protocols there are, and that
/// pages of other origins may read them.
struct UploadAnnouncements: Sendable {
  private let uploads: ResumableUploads

  init(_ uploads: ResumableUploads) { self.uploads = uploads }

  private enum Place {
    case tus, draft
    /// What attaches snapshots.
    case attaching
  }

  /// Adds to `fields`, which answer `request`.
  func add(to fields: inout HTTPFields, of request: HTTPServerRequest) {
    guard let place = Self.place(request) else { return }
    for field in own(place, request.method) {
      if field.name == .acceptPatch, let other = fields[.acceptPatch], !other.contains(field.value) {
        fields[.acceptPatch] = other + ", " + field.value
      } else {
        fields[field.name] = field.value
      }
    }
    for field in crossOrigin(place, request) { fields[field.name] = field.value }
  }

  private static func place(_ request: HTTPServerRequest) -> Place? {
    let path = request.path
    if path.hasPrefix(ResumableUploads.path) {
      if path.hasPrefix(ResumableUploads.draftPath + "/") { return .draft }
      let rest = path.dropFirst(ResumableUploads.path.count)
      return rest.isEmpty || rest.hasPrefix("/") ? .tus : nil
    }
    guard path.hasPrefix("/v1/reports/"), [.post, .put, .options].contains(request.method) else { return nil }
    let segments = path.split(separator: "/", omittingEmptySubsequences: false)
    return (5...6).contains(segments.count) && segments[4] == "snapshots" ? .attaching : nil
  }

  private func own(_ place: Place, _ method: HTTPRequest.Method) -> HTTPFields {
    switch (place, method) {
    case (.tus, .options): Tus.offer(uploads.service.limits)
    // Whoever speaks another version has to see which is spoken here.
    case (.tus, _): [.tusResumable: Tus.version]
    case (_, .options):
      [.uploadLimit: uploads.limit().fieldValue, .acceptPatch: DraftDialect.mediaType]
    case (.draft, _), (.attaching, _): [:]
    }
  }

  // MARK: Pages of other origins

  /// What lets a page read the answer (Fetch §3.2). Never with credentials: what a page uploads with is a token that it
  /// was given, not the browser's own.
  private func crossOrigin(_ place: Place, _ request: HTTPServerRequest) -> HTTPFields {
    guard let origin = request.headerFields[.origin] else { return [:] }
    var fields: HTTPFields = [:]
    if uploads.configuration.origins != .all { fields[.vary] = "Origin" }
    guard let allowed = uploads.configuration.origins.answer(to: origin) else { return fields }
    fields[.accessControlAllowOrigin] = allowed
    fields[.accessControlExposeHeaders] = Self.exposed
    if request.method == .options, request.headerFields[.accessControlRequestMethod] != nil {
      fields[.accessControlAllowMethods] =
        place == .attaching ? "POST, PUT, OPTIONS" : "POST, HEAD, GET, PATCH, DELETE, OPTIONS"
      fields[.accessControlAllowHeaders] = Self.taken
      fields[.accessControlMaxAge] = "86400"
    }
    return fields
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
