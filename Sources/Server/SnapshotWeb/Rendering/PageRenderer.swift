import SnapshotAPI

/// A page for visitors: what a template shows within the layout.
protocol Page: Sendable {
  var template: PageTemplates.Name { get }
  var title: String { get }
  /// The values of the template. Some depend on what the visitor may do.
  func fields(in frame: PageFrame) -> Fields
}

/// Renders pages as HTML. Thread-safe.
struct PageRenderer: Sendable {
  private let templates: PageTemplates

  /// Parses the templates.
  ///
  /// - Throws: an error in one of the templates. The tests ensure that there is none.
  init() throws { templates = try PageTemplates() }

  /// Returns a page in UTF-8.
  func render(_ page: some Page, in frame: PageFrame) -> [UInt8] {
    render(page.template, page.title, page.fields(in: frame), frame)
  }

  /// Returns the values of a file in UTF-8, without the page around them; nothing if the page shows no JSON.
  func renderPart(of page: PreviewPage) -> [UInt8] {
    guard let fields = page.contentFields["json"] as? Fields else { return [] }
    return Array(templates.html(.values, fields).utf8)
  }

  /// Returns the part of a page that is the same for every visitor.
  func render(_ page: DocumentPage) -> RenderedDocument {
    RenderedDocument(title: page.title, html: templates.html(.article, page.fields))
  }

  /// Returns a page in UTF-8.
  func render(_ document: RenderedDocument, in frame: PageFrame) -> [UInt8] {
    let page = render(.document, document.title, [:], frame)
    // The comment comes from the template: values can't contain it, because `<` is escaped in them.
    guard let place = page.firstRange(of: Array(RenderedDocument.place.utf8)) else { return page }
    return page[..<place.lowerBound] + Array(document.html.utf8) + page[place.upperBound...]
  }

  private func render(
    _ page: PageTemplates.Name, _ title: String, _ fields: Fields, _ frame: PageFrame
  ) -> [UInt8] {
    var fields = fields
    fields["frame"] = frame.fields(title: title, isHome: page == .home)
    return Array(templates.html(page, fields).utf8)
  }
}

/// A page of the documentation as HTML, without the layout around it, which depends on the visitor.
struct RenderedDocument: Sendable {
  /// The comment in the template `document` that the HTML replaces.
  static let place = "<!--article-->"

  let title: String
  let html: String
}
