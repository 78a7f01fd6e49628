import SnapshotAPI

/// A page of the documentation: the list of articles, an article, or the reference of the API.
struct DocumentPage: Sendable {
  /// An entry in the table of contents.
  struct Entry: Sendable {
    let id: String
    let text: String
  }

  /// The title of the reference.
  static let referenceTitle = "API reference"
  /// The number of sections from which on a page has a table of contents.
  private static let fewestEntries = 3

  let heading: [Markdown.Span]
  /// A sentence that describes the page.
  let lead: [Markdown.Span]
  let blocks: [Markdown.Block]
  /// The titles of the articles that the page can refer to, by name.
  let titles: [String: [Markdown.Span]]
  /// Whether this is the list of articles.
  let isLanding: Bool
  /// The sections of an article. Empty if there are few, and for pages that begin with a list of their parts.
  let contents: [Entry]

  /// Creates a page that can refer to the articles of `manual`.
  init(
    title: [Markdown.Span], lead: [Markdown.Span], _ blocks: [Markdown.Block], _ manual: Manual,
    isLanding: Bool = false, hasContents: Bool = true
  ) {
    heading = title
    self.lead = lead
    self.blocks = blocks
    titles = manual.articles.mapValues(\.title)
    self.isLanding = isLanding
    let entries = blocks.compactMap { block -> Entry? in
      guard case .heading(3, let id, let spans) = block else { return nil }
      return Entry(id: id, text: spans.plainText)
    }
    contents = hasContents && !isLanding && entries.count >= Self.fewestEntries ? entries : []
  }

  /// Creates the page that describes every call of `reference`.
  init(_ reference: APIReference, _ manual: Manual) {
    self.init(
      title: [.text(Self.referenceTitle)],
      lead: Markdown.spans("Every call with its parameters, body, responses and problems."),
      reference.blocks, manual, hasContents: false)
  }
}
