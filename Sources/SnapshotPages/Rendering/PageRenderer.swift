import Mustache

/// Makes HTML of pages. Safe to use from many threads.
public struct PageRenderer: Sendable {
  private let library: MustacheLibrary

  /// Reads the templates.
  /// - Throws: What is wrong with one of them; never, once the tests have passed.
  public init() throws { library = try Self.makeLibrary() }

  /// A page in UTF-8.
  public func render(_ page: HomePage, in frame: PageFrame) -> [UInt8] {
    render("home", title: page.title, page.fields, frame)
  }

  /// A page in UTF-8.
  public func render(_ page: ReportPage, in frame: PageFrame) -> [UInt8] {
    render("report", title: page.title, page.fields, frame)
  }

  /// A page in UTF-8.
  public func render(_ page: SnapshotPage, in frame: PageFrame) -> [UInt8] {
    render("snapshot", title: page.title, page.fields, frame)
  }

  /// A page in UTF-8.
  public func render(_ page: PreviewPage, in frame: PageFrame) -> [UInt8] {
    render("preview", title: page.title, page.fields, frame)
  }

  /// A page in UTF-8.
  public func render(_ page: DiffPage, in frame: PageFrame) -> [UInt8] {
    render("diff", title: page.title, page.fields, frame)
  }

  /// A page in UTF-8.
  public func render(_ page: LinkPage, in frame: PageFrame) -> [UInt8] {
    render("link", title: page.title, page.fields, frame)
  }

  /// A page in UTF-8.
  public func render(_ page: SignInPage, in frame: PageFrame) -> [UInt8] {
    render("sign-in", title: page.title, page.fields, frame)
  }

  /// A page in UTF-8.
  public func render(_ page: SignedOutPage, in frame: PageFrame) -> [UInt8] {
    render("signed-out", title: page.title, page.fields, frame)
  }

  /// A page in UTF-8.
  public func render(_ page: ProblemPage, in frame: PageFrame) -> [UInt8] {
    render("problem", title: page.title, page.fields, frame)
  }
}
