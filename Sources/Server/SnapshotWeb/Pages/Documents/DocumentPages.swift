import AccessControl
import HTTPEngine
import HTTPTypes
import SnapshotAPI
import SnapshotStore
import SystemIO

/// The pages of the documentation. They need no permission, like the OpenAPI document.
struct DocumentPages: Sendable {
  /// Renders these pages, one after the other, so that the long ones don't delay others.
  private static let queue = ServerQueues.shared.longReaders.next

  private let pages: PageMaker
  private let manual: Manual
  private let reference: @Sendable () -> APIReference
  /// The HTML of the reference, which takes a noticeable time to render, after its first request.
  private let rendered = Lock<String?>(nil)

  init(_ pages: PageMaker, manual: Manual, reference: @escaping @Sendable () -> APIReference) {
    self.pages = pages
    self.manual = manual
    self.reference = reference
  }

  /// All endpoints.
  var endpoints: [Endpoint] {
    [
      .page(unaudited: "listArticles", PagePath.documentation.description) { call in
        try await show(manual.landing, call)
      },
      .page(unaudited: "readDescription", PagePath.reference.description) { call in
        try await pages.render(call.visitor, on: Self.queue) { renderer, frame in
          let html = rendered.withLock { known in
            let html = known ?? renderer.render(reference())
            known = html
            return html
          }
          return renderer.render(title: "API reference", html: html, in: frame)
        }
      },
      .page(unaudited: "readArticle", PagePath.documentation.description + "/{article}") { call in
        try await show(manual.article(call.value(of: .article)), call)
      },
    ]
  }

  private func show(_ article: Manual.Article?, _ call: PageCall) async throws -> HTTPServerResponse {
    guard let article else { throw HTTPProblem.noSuchPath() }
    return try await pages.render(call.visitor, on: Self.queue) { renderer, frame in
      renderer.render(title: article.title, html: article.html, in: frame)
    }
  }
}

extension PathParameter where Value == String {
  fileprivate static var article: PathParameter<String> { PathParameter("article") { $0 } }
}
