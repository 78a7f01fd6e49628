/// The articles about the server, as `make articles` renders them.
package struct Manual: Sendable {
  /// An article.
  package struct Article: Sendable {
    let title: String
    /// The contents of the page's main part.
    let html: String
    /// The SHA-256 digest of the Markdown.
    package let digest: String
  }

  /// The name of the article that lists the others.
  private static let landing = "snapshotserver"

  /// The articles by name: the last segments of their paths, and that of the one that lists the others.
  package let articles: [String: Article]

  /// Divides the articles in `html`. Each begins with a comment: name, digest and title.
  package init(_ html: [UInt8]) {
    var articles: [String: Article] = [:]
    for article in String(decoding: html, as: UTF8.self).split(separator: "<!-- article ") {
      let parts = article.split(separator: " -->\n", maxSplits: 1).map(String.init)
      let head = parts[0].split(separator: " ", maxSplits: 2).map(String.init)
      guard parts.count == 2, head.count == 3 else { continue }
      articles[head[0]] = Article(title: head[2], html: parts[1], digest: head[1])
    }
    self.articles = articles
  }

  /// The article that lists the others.
  var landing: Article? { articles[Self.landing] }

  /// Returns the article with this name, or `nil`.
  func article(_ name: String) -> Article? { name == Self.landing ? nil : articles[name] }
}
