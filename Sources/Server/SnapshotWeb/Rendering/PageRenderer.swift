import SnapshotAPI

/// Renders pages as HTML. Thread-safe.
package struct PageRenderer: Sendable {
  private let templates: PageTemplates

  /// Parses the templates.
  ///
  /// - Throws: an error in one of the templates. The tests ensure that there is none.
  package init() throws { templates = try PageTemplates() }

  /// Returns a page in UTF-8.
  package func render(_ page: HomePage, in frame: PageFrame) -> [UInt8] {
    render(.home, page.title, page.fields, frame)
  }

  /// Returns a page in UTF-8.
  package func render(_ page: ReportPage, in frame: PageFrame) -> [UInt8] {
    render(.report, page.title, page.fields, frame)
  }

  /// Returns a page in UTF-8.
  package func render(_ page: SnapshotPage, in frame: PageFrame) -> [UInt8] {
    render(.snapshot, page.title, page.fields(in: frame), frame)
  }

  /// Returns a page in UTF-8.
  package func render(_ page: PreviewPage, in frame: PageFrame) -> [UInt8] {
    render(.preview, page.title, page.fields, frame)
  }

  /// Returns the values of a file in UTF-8, without the page around them; nothing if the page shows no JSON.
  package func renderPart(of page: PreviewPage) -> [UInt8] {
    guard let fields = page.contentFields["json"] as? Fields else { return [] }
    return Array(templates.html(.values, fields).utf8)
  }

  /// Returns a page in UTF-8.
  package func render(_ page: DiffPage, in frame: PageFrame) -> [UInt8] {
    render(.diff, page.title, page.fields, frame)
  }

  /// Returns a page in UTF-8.
  package func render(_ page: HistoryPage, in frame: PageFrame) -> [UInt8] {
    render(.history, page.title, page.fields, frame)
  }

  /// Returns a page in UTF-8.
  package func render(_ page: LinkPage, in frame: PageFrame) -> [UInt8] {
    render(.link, page.title, page.fields, frame)
  }

  /// Returns a page in UTF-8.
  package func render(_ page: SignInPage, in frame: PageFrame) -> [UInt8] {
    render(.signIn, page.title, page.fields, frame)
  }

  /// Returns a page in UTF-8.
  package func render(_ page: SignedOutPage, in frame: PageFrame) -> [UInt8] {
    render(.signedOut, page.title, page.fields, frame)
  }

  /// Returns a page in UTF-8.
  package func render(_ page: ProblemPage, in frame: PageFrame) -> [UInt8] {
    render(.problem, page.title, page.fields, frame)
  }

  /// Returns the HTML of the main part of the page that describes every call.
  func render(_ reference: APIReference) -> String { templates.html(.reference, reference.fields) }

  /// Returns a page of the documentation in UTF-8, with `html` as its main part.
  func render(title: String, html: String, in frame: PageFrame) -> [UInt8] {
    render(.document, title, ["html": html], frame)
  }

  private func render(
    _ page: PageTemplates.Page, _ title: String, _ fields: Fields, _ frame: PageFrame
  ) -> [UInt8] {
    var fields = fields
    fields["frame"] = frame.fields(title: title, isHome: page == .home)
    return Array(templates.html(page, fields).utf8)
  }
}
