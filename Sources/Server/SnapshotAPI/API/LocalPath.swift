package import HTTPEngine
import HTTPTypes

/// A path on this server, and a query: where to go on after signing in, and nowhere else.
///
/// Browsers take `//host` and `/\host` for another server, and leave out tabs and line ends before they look.
package struct LocalPath: Sendable, Hashable, CustomStringConvertible {
  /// The most bytes.
  static let maximumLength = 2000
  /// The first page.
  package static let home = LocalPath(checked: "/")

  package let description: String

  /// Takes `text` if it can't lead anywhere else.
  package init?(_ text: String) {
    let bytes = text.utf8
    guard bytes.count <= Self.maximumLength, bytes.first == UInt8(ascii: "/"), !text.hasPrefix("//"),
      bytes.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") })
    else { return nil }
    description = text
  }

  private init(checked text: String) { description = text }

  /// Where somebody goes on who asked for this without having signed in: the page itself, or, where a form was sent,
  /// the page of what it is about.
  package init(after routed: RoutedRequest) {
    let request = routed.request
    var path: LocalPath?
    if request.method == .get || request.method == .head {
      path = LocalPath(request.path + (request.query.map { "?" + $0 } ?? ""))
    } else if routed.template.hasPrefix("/snapshots/{id}/") {
      path = request.path.lastIndex(of: "/").flatMap { LocalPath(String(request.path[..<$0])) }
    }
    self = path ?? .home
  }
}
