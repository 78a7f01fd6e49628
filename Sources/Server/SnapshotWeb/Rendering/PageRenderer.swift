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
  func renderPart(of page: PreviewPage, in frame: PageFrame) -> [UInt8] {
    guard var fields = page.contentFields["json"] as? Fields else { return [] }
    fields["base"] = frame.basePath
    return Array(templates.html(.values, fields).utf8)
  }

  /// Returns the HTML of the main part of the page that describes every call.
  func render(_ reference: APIReference) -> String { templates.html(.reference, reference.fields) }

  /// Returns a page of the documentation in UTF-8, with `html` as its main part. `html` was rendered without
  /// ``PageFrame/basePath``.
  func render(title: String, html: String, in frame: PageFrame) -> [UInt8] {
    let based =
      frame.basePath.isEmpty ? html : html.replacing("href=\"/", with: "href=\"\(frame.basePath)/")
    return render(.document, title, ["html": based], frame)
  }

  private func render(
    _ page: PageTemplates.Name, _ title: String, _ fields: Fields, _ frame: PageFrame
  ) -> [UInt8] {
    var fields = fields
    fields["base"] = frame.basePath
    fields["frame"] = frame.fields(title: title, isHome: page == .home)
    return Array(templates.html(page, fields).utf8)
  }
}
