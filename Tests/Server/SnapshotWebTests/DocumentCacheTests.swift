import Testing

@testable import SnapshotWeb

struct DocumentCacheTests {
  @Test func `a page is rendered at its first request only`() {
    let cache = DocumentCache()
    var rendered: [String] = []
    for path in ["/docs/a", "/docs/b", "/docs/a", "/docs/a"] {
      let document = cache.document(path) {
        rendered.append(path)
        return RenderedDocument(title: path, html: "")
      }
      #expect(document?.title == path)
    }
    #expect(rendered == ["/docs/a", "/docs/b"])
  }

  @Test func `a page that does not exist is not stored`() {
    let cache = DocumentCache()
    #expect(cache.document("/docs/a") { nil } == nil)
    #expect(cache.document("/docs/a") { RenderedDocument(title: "A", html: "") } != nil)
  }

  @Test func `text can't be taken for the place of the document`() throws {
    let renderer = try PageRenderer()
    let document = RenderedDocument(title: RenderedDocument.place, html: "<p>once</p>")
    let frame = PageFrame(account: .signedIn(name: RenderedDocument.place))
    let html = String(decoding: renderer.render(document, in: frame), as: UTF8.self)
    #expect(html.ranges(of: "<p>once</p>").count == 1)
    #expect(!html.contains(RenderedDocument.place))
    #expect(html.contains(/<main[^>]*>\s*<p>once/))
  }
}
