import AccessControl
import HTTPEngine
import HTTPTypes
import SnapshotAPI
import SystemIO

/// The pages of the documentation. They need no permission, like the OpenAPI document.
struct DocumentPages: Sendable {
  /// Renders these pages, one after the other, so that the long ones don't delay others.
  private static let queue = ServerQueues.shared.longReaders.next

  private let pages: PageMaker
  private let manual: @Sendable () -> Manual
  private let reference: @Sendable () -> APIReference
  private let cache = DocumentCache()

  init(
    _ pages: PageMaker, manual: @escaping @Sendable () -> Manual,
    reference: @escaping @Sendable () -> APIReference
  ) {
    self.pages = pages
    self.manual = manual
    self.reference = reference
  }

  /// All endpoints.
  var endpoints: [Endpoint] {
    [
      .page(unaudited: "listArticles", PagePath.documentation.description) { call in
        try await show(call, PagePath.documentation.description) { manual().landingPage }
      },
      .page(unaudited: "readDescription", PagePath.reference.description) { call in
        try await show(call, PagePath.reference.description) { DocumentPage(reference(), manual()) }
      },
      .page(unaudited: "readArticle", PagePath.documentation.description + "/{article}") { call in
        let name = try call.value(of: .article)
        return try await show(call, PagePath.article(name).description) { manual().page(name) }
      },
    ]
  }

  private func show(
    _ call: PageCall, _ path: String, _ page: @escaping @Sendable () -> DocumentPage?
  ) async throws -> HTTPServerResponse {
    try await pages.render(call.visitor, on: Self.queue) { [cache] renderer, frame in
      guard let document = cache.document(path, { page().map { renderer.render($0) } }) else {
        throw HTTPProblem.noSuchPath()
      }
      return renderer.render(document, in: frame)
    }
  }
}

extension PathParameter where Value == String {
  fileprivate static var article: PathParameter<String> { PathParameter("article") { $0 } }
}

/// The pages of the documentation that were requested before. They are the same for every visitor and don't change, and
/// the long ones take a noticeable time to render. Thread-safe.
///
/// At most one entry for each article and one for the reference are kept.
final class DocumentCache: Sendable {
  private let documents = Lock<[String: RenderedDocument]>([:])

  /// Returns the page with this path, which `render` makes at its first request. Concurrent calls may each render it;
  /// a serial queue prevents that.
  ///
  /// - Parameter render: returns `nil` if there is no such page; that is not stored.
  func document(_ path: String, _ render: () -> RenderedDocument?) -> RenderedDocument? {
    if let known = documents.withLock({ $0[path] }) { return known }
    guard let document = render() else { return nil }
    documents.withLock { $0[path] = document }
    return document
  }
}
