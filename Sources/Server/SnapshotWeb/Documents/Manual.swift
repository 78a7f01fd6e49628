/// The articles about the server, which its pages show. They are the files of the module's DocC catalogue.
package struct Manual: Sendable {
  /// An article.
  struct Article: Sendable {
    /// The last segment of its path, as DocC has it: its file name in lower case, without its ending.
    let name: String
    let title: [Markdown.Span]
    /// A sentence that describes the article.
    let abstract: [Markdown.Span]
    /// The text after title and abstract.
    let blocks: [Markdown.Block]

    init(file: String, _ text: String) {
      name = file.lowercased()
      var blocks = Markdown(text).blocks[...]
      if case .heading(1, _, let spans) = blocks.first {
        title = spans
        blocks.removeFirst()
      } else {
        title = [.text(file)]
      }
      if case .paragraph(let spans) = blocks.first {
        abstract = spans
        blocks.removeFirst()
      } else {
        abstract = []
      }
      self.blocks = Array(blocks)
    }
  }

  /// The articles under a heading of the landing page.
  struct Group: Sendable {
    let title: [Markdown.Span]
    var articles: [Article]
  }

  private let landing: Article
  /// All articles by name, except the landing page.
  let articles: [String: Article]
  /// The articles in the order of the landing page.
  let groups: [Group]

  /// Parses articles.
  ///
  /// - Parameters:
  ///   - files: the contents of the files by name, without their ending.
  ///   - landing: the name of the file that lists the others below the heading *Topics*.
  package init(_ files: [String: [UInt8]], landing: String) {
    var articles: [String: Article] = [:]
    for (file, bytes) in files {
      let article = Article(file: file, String(decoding: bytes, as: UTF8.self))
      articles[article.name] = article
    }
    self.landing = articles.removeValue(forKey: landing.lowercased()) ?? Article(file: landing, "")
    self.articles = articles
    groups = Self.groups(self.landing.topics, articles)
  }

  /// Returns the groups below *Topics*: a heading, and a list of links to articles.
  private static func groups(
    _ topics: ArraySlice<Markdown.Block>, _ articles: [String: Article]
  ) -> [Group] {
    var groups: [Group] = []
    for block in topics {
      switch block {
      case .heading(_, _, let title): groups.append(Group(title: title, articles: []))
      case .list(_, let items):
        guard let last = groups.indices.last else { break }
        groups[last].articles += items.compactMap { item -> Article? in
          guard case .paragraph(let spans) = item.first, case .article(let file) = spans.first else {
            return nil
          }
          return articles[file.lowercased()]
        }
      default: break
      }
    }
    return groups
  }

  // MARK: - Pages

  /// The page that lists all articles.
  var landingPage: DocumentPage {
    let reference: [Markdown.Block] = [
      .paragraph([.link([.text(DocumentPage.referenceTitle)], PagePath.reference.description)]),
      .paragraph(Markdown.spans("Every call with its parameters, body, responses and problems.")),
    ]
    var blocks = landing.introduction
    for group in groups {
      blocks.append(.heading(level: 2, id: Markdown.id(group.title.plainText), group.title))
      let items = group.articles.map { article -> [Markdown.Block] in
        [.paragraph([.article(article.name)]), .paragraph(article.abstract)]
      }
      blocks.append(.list(isOrdered: false, items: items))
    }
    blocks.append(.heading(level: 2, id: "reference", [.text("Reference")]))
    blocks.append(.list(isOrdered: false, items: [reference]))
    return DocumentPage(
      title: [.text("Documentation")], lead: landing.abstract, blocks, self, isLanding: true)
  }

  /// Returns the page of the article with this name, or `nil`.
  func page(_ name: String) -> DocumentPage? {
    articles[name].map { DocumentPage(title: $0.title, lead: $0.abstract, $0.blocks, self) }
  }
}

extension Manual.Article {
  /// The index of the heading that DocC replaces by cards of the articles below it.
  private var topicsIndex: Int {
    blocks.firstIndex { block in
      if case .heading(2, "topics", _) = block { true } else { false }
    } ?? blocks.endIndex
  }

  fileprivate var introduction: [Markdown.Block] { Array(blocks[..<topicsIndex]) }
  fileprivate var topics: ArraySlice<Markdown.Block> { blocks[topicsIndex...].dropFirst() }
}
