package import HTTPEngine
import HTTPTypes

/// A path and query on this server, to which a visitor is redirected after signing in. It can't lead to another server.
///
/// Browsers interpret `//host` and `/\host` as another server, and remove tabs and line ends first.
package struct LocalPath: Sendable, Hashable, CustomStringConvertible {
  /// The maximum length in bytes.
  static let maximumLength = 2000
  /// The home page.
  package static let home = LocalPath(checked: "/")

  package let description: String

  /// Creates a path from `text`. Returns `nil` if it could lead to another server.
  package init?(_ text: String) {
    let bytes = text.utf8
    guard bytes.count <= Self.maximumLength, bytes.first == UInt8(ascii: "/"), !text.hasPrefix("//"),
      bytes.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") })
    else { return nil }
    description = text
  }

  private init(checked text: String) { description = text }

  /// Creates the path to open after signing in, for a request without a session: the page itself, or for a form, the
  /// page of its snapshot or report.
  package init(after routed: RoutedRequest) {
    let request = routed.request
    var path: LocalPath?
    if request.method == .get || request.method == .head {
      path = LocalPath(request.path + (request.query.map { "?" + $0 } ?? ""))
    } else if ["/snapshots/{id}/", "/reports/{report}/"].contains(where: routed.template.hasPrefix) {
      path = request.path.lastIndex(of: "/").flatMap { LocalPath(String(request.path[..<$0])) }
    }
    self = path ?? .home
  }
}
