import HTTPSemantics
import SnapshotAPI
import SnapshotFormat
import SnapshotViewer

/// The paths of all pages. All URLs of pages are built here.
///
/// | route | case |
/// | --- | --- |
/// | `/` | ``home(_:cursor:)`` |
/// | `/reports/{report}` | ``report(_:cursor:)`` |
/// | `/delete` | ``deletion(_:)`` |
/// | `/snapshots/{id}` | ``snapshot(_:_:)``, ``panel(_:_:)`` |
/// | `/snapshots/{id}/bundle` | ``bundle(_:)`` |
/// | `/snapshots/{id}/files/{path...}` | ``preview(_:file:_:)`` |
/// | `/snapshots/{id}/raw/{path...}` | ``raw(_:file:)`` |
/// | `/snapshots/{id}/decoded/{path...}` | ``decoded(_:file:string:)`` |
/// | `/snapshots/{id}/search`, `/reports/{report}/search`, `/search` | ``search(_:find:cursor:)`` |
/// | `/snapshots/{id}/diff` | ``diff(_:with:_:)`` |
/// | `/snapshots/{id}/files.zip` | ``folder(_:_:)`` |
/// | `/snapshots/{id}/history` | ``history(_:)`` |
/// | `/snapshots/{id}/delete`, `pin`, `mark-good` and the others | ``action(_:_:)`` |
/// | `/reports/{report}/snapshots` | ``attach(_:)`` |
/// | `/uploads`, `/uploads/{upload}` | ``uploads`` |
/// | `/attach` | ``attachLink(_:)`` |
/// | `/reports/{report}/links` | ``attachLinks(_:)`` |
/// | `/reports/{report}/links/{link}/revoke` | ``revokeLink(_:_:)`` |
/// | `/webhooks` | ``webhooks`` |
/// | `/sign-in`, `/sign-out` | ``signIn(next:)``, ``signOut`` |
/// | `/sign-in/{secret}` | ``signInLink(_:next:)`` |
/// | `/docs` | ``documentation`` |
/// | `/docs/{article}` | ``article(_:)`` |
/// | `/docs/reference` | ``reference`` |
/// | `/assets/{name}` | ``asset(_:)`` |
enum PagePath: Sendable, Hashable, CustomStringConvertible {
  /// The search and its results, starting at a cursor.
  case home(SearchForm = SearchForm(), cursor: String? = nil)
  /// The results of a search, to be deleted.
  case deletion(SearchForm = SearchForm())
  /// A report's snapshots, starting at a cursor.
  case report(ReportID, cursor: String? = nil)
  /// A snapshot.
  case snapshot(SnapshotID, ListSelection = .init())
  /// A snapshot, with a panel beside its list.
  case panel(SnapshotID, SnapshotPage.Panel)
  /// The download of a snapshot's bundle.
  case bundle(SnapshotID)
  /// The preview of a file of a snapshot.
  case preview(SnapshotID, file: String, FileSelection = .init())
  /// A file of a snapshot, unchanged.
  case raw(SnapshotID, file: String)
  /// The decoded contents of the string at a JSON Pointer in a file of a snapshot.
  case decoded(SnapshotID, file: String, string: String)
  /// The download of a snapshot's folder as an archive.
  case folder(SnapshotID, String)
  /// Who accessed a snapshot.
  case history(SnapshotID)
  /// What a query finds in the contents of snapshots, from a position on.
  case search(SearchPage.Scope, find: String = "", cursor: SearchPosition? = nil)
  /// The differences between a snapshot and another one.
  case diff(SnapshotID, with: SnapshotID? = nil, DiffSelection = .init())
  /// The target of a form for an action on a snapshot.
  case action(SnapshotPage.Action, SnapshotID)
  /// The target of the form that uploads a bundle to a report.
  case attach(ReportID)
  /// The path below which the script of pages uploads bundles.
  case uploads
  /// The page of a link to attach, with its secret.
  case attachLink(String)
  /// The links to attach to a report, and the target of the form that makes one.
  case attachLinks(ReportID)
  /// The target of the form that revokes the link to attach with this id.
  case revokeLink(ReportID, String)
  /// What became of the events for webhooks.
  case webhooks
  /// The form for signing in. `next` is the destination after that.
  case signIn(next: String? = nil)
  /// The link that signs in the only user of the server, with its secret. `next` is the destination after that.
  case signInLink(String, next: String)
  /// The target of the form for signing out.
  case signOut
  /// The list of articles about the server.
  case documentation
  /// The article with this name.
  case article(String)
  /// The description of every call of the API.
  case reference
  /// A style sheet, script or icon of the pages.
  case asset(PageAsset)

  /// The path and query.
  var description: String {
    switch self {
    case .home(let form, let cursor):
      return "/" + Self.query(Self.pairs(form) + Self.pair(.cursor, cursor))
    case .deletion(let form): return "/delete" + Self.query(Self.pairs(form))
    case .report(let report, let cursor):
      return "/reports/\(PercentCoding.encode(report.description))" + Self.query(Self.pair(.cursor, cursor))
    case .snapshot(let id, let selection):
      return "/snapshots/\(id)" + Self.query(selection.pairs.map { ($0.0.rawValue, $0.1) })
    case .panel(let id, let panel):
      return "/snapshots/\(id)" + Self.query([(PageField.show.rawValue, panel.rawValue)])
    case .bundle(let id): return "/snapshots/\(id)/bundle"
    case .preview(let id, let file, let selection):
      return "/snapshots/\(id)/files/\(Self.segments(file))" + Self.query(Self.pairs(selection))
    case .raw(let id, let file): return "/snapshots/\(id)/raw/\(Self.segments(file))"
    case .decoded(let id, let file, let string):
      return "/snapshots/\(id)/decoded/\(Self.segments(file))"
        + Self.query([(PageField.decode.rawValue, string)])
    case .folder(let id, let folder):
      return "/snapshots/\(id)/files.zip" + Self.query([(PageField.folder.rawValue, folder)])
    case .history(let id): return "/snapshots/\(id)/history"
    case .search(let scope, let find, let cursor):
      return Self.path(of: scope)
        + Self.query(
          Self.pair(.find, find.isEmpty ? nil : find) + Self.pair(.cursor, cursor?.description))
    case .diff(let id, let other, let selection):
      let pairs = selection.pairs.map { ($0.0.rawValue, $0.1) }
      return "/snapshots/\(id)/diff" + Self.query(Self.pair(.with, other?.description) + pairs)
    case .action(let action, let id): return "/snapshots/\(id)/\(action.rawValue)"
    case .attach(let report): return Self.report(report).description + "/snapshots"
    case .uploads: return "/uploads"
    case .attachLink(let secret): return AttachLinkRoutes.path(of: secret)
    case .attachLinks(let report): return Self.report(report).description + "/links"
    case .revokeLink(let report, let id): return Self.attachLinks(report).description + "/\(id)/revoke"
    case .webhooks: return "/webhooks"
    case .signIn(let next): return "/sign-in" + Self.query(Self.pair(.next, next))
    case .signInLink(let secret, let next): return "/sign-in/\(secret)" + Self.query(Self.pair(.next, next))
    case .signOut: return "/sign-out"
    case .documentation: return "/docs"
    case .article(let name): return "/docs/\(PercentCoding.encode(name))"
    case .reference: return "/docs/reference"
    case .asset(let asset): return "/assets/\(asset.name)"
    }
  }

  /// The path below which the API accepts the uploads of the script, with the secret of a link.
  static let callsForUploads = "/v1" + uploads.description

  /// Returns the path and query of the page with a notice about the last action.
  func description(after notice: PageNotice) -> String {
    let path = description
    return path + (path.contains("?") ? "&" : "?") + "\(PageField.done.rawValue)=\(notice.rawValue)"
  }

  private static func path(of scope: SearchPage.Scope) -> String {
    switch scope {
    case .snapshot(let id): "\(snapshot(id))/search"
    case .report(let report): "\(self.report(report))/search"
    case .newest: "/search"
    }
  }

  private static func pair(_ field: PageField, _ value: String?) -> [(String, String)] {
    value.map { [(field.rawValue, $0)] } ?? []
  }

  private static func pairs(_ form: SearchForm) -> [(String, String)] {
    SearchField.allCases.compactMap { field in form.values[field].map { (field.rawValue, $0) } }
  }

  private static func pairs(_ selection: FileSelection) -> [(String, String)] {
    pair(.view, selection.view?.rawValue)
      + pair(.at, selection.pointer.isEmpty ? nil : selection.pointer)
      + pair(.from, selection.from > 0 ? "\(selection.from)" : nil)
      + pair(.sort, selection.order?.key)
      + pair(.order, selection.order?.isDescending == true ? "descending" : nil)
      + pair(.find, selection.find.isEmpty ? nil : selection.find)
      + pair(.hit, selection.hit.map { "\($0)" })
      + pair(.decode, selection.decode)
      + pair(.escapes, selection.showsEscapes ? "1" : nil)
      + pair(.part, selection.isPart ? "1" : nil)
      + pair(.with, selection.with?.description)
      + selection.list.pairs.map { ($0.0.rawValue, $0.1) }
  }

  private static func query(_ pairs: [(String, String)]) -> String {
    pairs.isEmpty
      ? "" : "?" + pairs.map { "\($0.0)=\(PercentCoding.encode($0.1))" }.joined(separator: "&")
  }

  private static func segments(_ path: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false).map { PercentCoding.encode(String($0)) }
      .joined(separator: "/")
  }
}
