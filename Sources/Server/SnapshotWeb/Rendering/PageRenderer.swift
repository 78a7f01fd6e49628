import SnapshotAPI

/// Makes HTML of pages. Safe to use from many threads.
package struct PageRenderer: Sendable {
  private let templates: PageTemplates

  /// Reads the templates.
  /// - Throws: What is wrong with one of them, which the tests have seen to be nothing.
  package init() throws { templates = try PageTemplates() }

  /// A page in UTF-8.
  package func render(_ page: HomePage, in frame: PageFrame) -> [UInt8] {
    render(.home, page.title, page.fields, frame)
  }

  /// A page in UTF-8.
  package func render(_ page: ReportPage, in frame: PageFrame) -> [UInt8] {
    render(.report, page.title, page.fields, frame)
  }

  /// A page in UTF-8.
  package func render(_ page: SnapshotPage, in frame: PageFrame) -> [UInt8] {
    render(.snapshot, page.title, page.fields(in: frame), frame)
  }

  /// A page in UTF-8.
  package func render(_ page: PreviewPage, in frame: PageFrame) -> [UInt8] {
    render(.preview, page.title, page.fields, frame)
  }

  /// A page in UTF-8.
  package func render(_ page: DiffPage, in frame: PageFrame) -> [UInt8] {
    render(.diff, page.title, page.fields, frame)
  }

  /// A page in UTF-8.
  package func render(_ page: LinkPage, in frame: PageFrame) -> [UInt8] {
    render(.link, page.title, page.fields, frame)
  }

  /// A page in UTF-8.
  package func render(_ page: SignInPage, in frame: PageFrame) -> [UInt8] {
    render(.signIn, page.title, page.fields, frame)
  }

  /// A page in UTF-8.
  package func render(_ page: SignedOutPage, in frame: PageFrame) -> [UInt8] {
    render(.signedOut, page.title, page.fields, frame)
  }

  /// A page in UTF-8.
  package func render(_ page: ProblemPage, in frame: PageFrame) -> [UInt8] {
    render(.problem, page.title, page.fields, frame)
  }

  private func render(
    _ page: PageTemplates.Page, _ title: String, _ fields: Fields, _ frame: PageFrame
  ) -> [UInt8] {
    var fields = fields
    fields["frame"] = frame.fields(title: title, isHome: page == .home)
    return Array(templates.html(page, fields).utf8)
  }
}
