import HTTPEngine
import HTTPTypes
import SnapshotAPI

/// The path of a list of snapshots on this server, with its query: the search, or the snapshots of a report.
///
/// It comes from a form or from `Referer`, and is the target of a redirection. It can't lead to another server or to any
/// other page.
struct ListPath: Sendable, Hashable, CustomStringConvertible {
  private let path: LocalPath

  /// Creates a path from a text. Removes a notice about an earlier action. `nil` if the text is not such a path.
  init?(_ text: String) {
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let reports = "/reports/"
    let isReport = parts[0].hasPrefix(reports) && !parts[0].dropFirst(reports.count).contains("/")
    guard parts[0] == "/" || isReport && parts[0].count > reports.count, !text.contains("#") else {
      return nil
    }
    let pairs = (parts.count > 1 ? parts[1] : "").split(separator: "&").filter {
      !$0.hasPrefix(PageField.done.rawValue + "=")
    }
    guard let path = LocalPath(String(parts[0]) + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")))
    else {
      return nil
    }
    self.path = path
  }

  /// Returns the path of the list with the link that the visitor followed, according to `Referer`. `nil` if the visitor
  /// did not come from a list of this server.
  init?(referrerOf request: HTTPServerRequest) {
    guard let referrer = request.headerFields[.referer], let scheme = referrer.firstRange(of: "://") else {
      return nil
    }
    let rest = referrer[scheme.upperBound...]
    guard let slash = rest.firstIndex(of: "/"), rest[..<slash].lowercased() == request.authority.lowercased()
    else {
      return nil
    }
    let path = rest[slash...]
    guard path.hasPrefix(request.basePath) else { return nil }
    let below = path.dropFirst(request.basePath.count)
    self.init(below.isEmpty ? PagePath.home().description : String(below))
  }

  /// The path and query.
  var description: String { path.description }

  /// Returns the path and query of the list with a notice about the last action.
  func description(after notice: PageNotice) -> String {
    let path = description
    return path + (path.contains("?") ? "&" : "?") + "\(PageField.done.rawValue)=\(notice.rawValue)"
  }
}
