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

  /// Returns the HTML of the main part of the page that describes every call.
  func render(_ reference: APIReference) -> String { templates.html(.reference, reference.fields) }

  /// Returns a page of the documentation in UTF-8, with `html` as its main part.
  func render(title: String, html: String, in frame: PageFrame) -> [UInt8] {
    render(.document, title, ["html": html], frame)
  }

  private func render(
    _ page: PageTemplates.Name, _ title: String, _ fields: Fields, _ frame: PageFrame
  ) -> [UInt8] {
    var fields = fields
    fields["frame"] = frame.fields(title: title, isHome: page == .home)
    return Array(templates.html(page, fields).utf8)
  }
}
