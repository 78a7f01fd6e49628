import SystemIO

/// The pages of the documentation that were requested before. They are the same for every visitor and don't change, and
/// the long ones take a noticeable time to render. Thread-safe.
///
/// At most one entry for each article and one for the reference are kept.
final class DocumentCache: Sendable {
  private let documents = Lock<[String: RenderedDocument]>([:])

  /// Returns the page with this path, which `render` makes at its first request. Concurrent calls may each render it;
  /// a serial queue prevents that.
  ///
  /// - Parameter render: returns `nil` if there is no such page; that is not stored.
  func document(_ path: String, _ render: () -> RenderedDocument?) -> RenderedDocument? {
    if let known = documents.withLock({ $0[path] }) { return known }
    guard let document = render() else { return nil }
    documents.withLock { $0[path] = document }
    return document
  }
}
