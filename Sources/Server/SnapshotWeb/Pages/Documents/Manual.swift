/// The articles about the server and the libraries of apps, as `make articles` renders them.
package struct Manual: Sendable {
  /// An article.
  package struct Article: Sendable {
    let title: String
    /// The contents of the page's main part.
    let html: String
    /// The SHA-256 digest of the Markdown.
    package let digest: String

    /// Creates an article.
    package init(title: String, digest: String, html: String) {
      self.title = title
      self.html = html
      self.digest = digest
    }
  }

  /// The name of the article that lists the others.
  private static let landing = "snapshotserver"

  /// The articles by name: the last segments of their paths, and that of the one that lists the others.
  package let articles: [String: Article]

  /// Creates a manual.
  package init(_ articles: [String: Article]) { self.articles = articles }

  /// The article that lists the others.
  var landing: Article? { articles[Self.landing] }

  /// Returns the article with this name, or `nil`.
  func article(_ name: String) -> Article? { name == Self.landing ? nil : articles[name] }
}
