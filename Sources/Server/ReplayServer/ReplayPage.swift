import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat
import SnapshotWeb

/// The page that shows what was asked, answered and missing. A script keeps it current; without scripts, the browser loads
/// it again every few seconds.
struct ReplayPage {
  /// Where the page is.
  static let path = "/__snapshot/"

  private let manifest: Manifest
  private let table: ReplayTable
  private let log: ReplayLog

  init(_ manifest: Manifest, _ table: ReplayTable, _ log: ReplayLog) {
    self.manifest = manifest
    self.table = table
    self.log = log
  }

  /// Returns the response to a request below ``path``; `nil` for any other.
  func response(to request: HTTPServerRequest) async throws -> HTTPServerResponse? {
    guard request.path.hasPrefix(Self.path) || request.path + "/" == Self.path else { return nil }
    switch (request.method, String(request.path.dropFirst(Self.path.count))) {
    case (.get, ""), (.head, ""):
      guard request.path == Self.path else { return Self.redirect }
      return Self.response(html, "text/html; charset=utf-8")
    case (.get, "page.css"), (.head, "page.css"): return Self.response(ReplayPageAssets.style, "text/css")
    case (.get, "page.js"), (.head, "page.js"):
      return Self.response(ReplayPageAssets.script, "text/javascript")
    case (.get, "icon.svg"), (.head, "icon.svg"):
      return Self.response(ReplayPageAssets.icon, "image/svg+xml")
    case (.post, "reset"):
      // Other sites must not change what a test sees.
      guard !CrossSiteRule.comesFromAnotherSite(request) else {
        throw HTTPProblem(
          .forbidden, kind: "foreign-page", title: "Another site sent this form",
          detail: "The histories can begin again from the page of this server only.")
      }
      table.reset()
      return Self.redirect
    default: throw HTTPProblem.noSuchPath()
    }
  }

  private static var redirect: HTTPServerResponse {
    HTTPServerResponse(status: .seeOther, headerFields: [.location: path])
  }

  private static func response(_ text: String, _ type: String) -> HTTPServerResponse {
    var fields: HTTPFields = [.contentType: type, .cacheControl: "no-store"]
    fields[.xContentTypeOptions] = "nosniff"
    fields[.contentSecurityPolicy] =
      "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
      + "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    return HTTPServerResponse(status: .ok, headerFields: fields, body: .bytes(Array(text.utf8)))
  }

  // MARK: - HTML

  private var html: String {
    let title = "Replay of snapshot \(manifest.id)"
    let application = manifest.application
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>\(title)</title>
      <link rel="icon" href="\(Self.path)icon.svg">
      <link rel="stylesheet" href="\(Self.path)page.css">
      <script src="\(Self.path)page.js" defer></script>
      <noscript><meta http-equiv="refresh" content="5"></noscript>
      </head>
      <body>
      <header>
      <h1>\(title)</h1>
      <p>\(text("\(application.identifier) \(application.version) (\(application.build))")), \
      recorded until \(text(manifest.createdAt.formatted(.iso8601)))</p>
      </header>
      <main id="live">
      \(contents)
      </main>
      <footer><form method="post" action="\(Self.path)reset"><button>Begin all histories again</button></form></footer>
      </body>
      </html>

      """
  }

  private var contents: String {
    let state = log.state
    let counts = """
      <p class="counts"><b>\(state.total)</b> asked, <b>\(state.total - state.missing)</b> answered, \
      <b\(state.missing > 0 ? " class=\"missing\"" : "")>\(state.missing)</b> missing, \
      <b>\(state.live)</b> from the live server</p>
      """
    return [counts, missing(state), newest(state), recordings].joined(separator: "\n")
  }

  private func missing(_ state: ReplayLog.State) -> String {
    guard !state.misses.isEmpty else { return "" }
    let rows = state.misses.map { entry in
      "<li><code>\(text("\(entry.method) \(entry.target)"))</code><span>\(text(entry.words))</span></li>"
    }
    return "<h2>Missing</h2>\n<ul class=\"missing\">\n\(rows.joined(separator: "\n"))\n</ul>"
  }

  private func newest(_ state: ReplayLog.State) -> String {
    let entries = state.entries.suffix(ReplayLimits.loggedRequests).reversed()
    guard !entries.isEmpty else { return "<h2>Requests</h2>\n<p>Nothing was asked so far.</p>" }
    let rows = entries.map { entry in
      """
      <li value="\(entry.number)"\(entry.isMissing ? " class=\"missing\"" : "")>\
      <code>\(text("\(entry.method) \(entry.target)"))</code>\
      <span><b>\(entry.status.map { "\($0)" } ?? "closed")</b> \(text(entry.words))</span></li>
      """
    }
    return "<h2>Requests, newest first</h2>\n<ol>\n\(rows.joined(separator: "\n"))\n</ol>"
  }

  private var recordings: String {
    let counts = table.counts
    let shown = table.histories.prefix(ReplayLimits.shownRecordings)
    let rows = shown.enumerated().map { index, history in
      let calls = history.calls.count == 1 ? "1 call" : "\(history.calls.count) calls"
      let asked = counts[index] == 0 ? "not asked" : "asked \(counts[index]) ×"
      let name = history.host.isEmpty ? "from ‘\(history.identifier.prefix(300))’" : "from \(history.host)"
      return """
        <li\(counts[index] == 0 ? " class=\"idle\"" : "")><code>\(text(String(history.request.prefix(1000))))</code>\
        <span>\(text(name)), \(calls), \(asked)</span></li>
        """
    }
    let rest = table.histories.count - shown.count
    let more = rest > 0 ? "\n<p>\(rest) more are not shown.</p>" : ""
    return "<h2>Recorded requests</h2>\n<ul>\n\(rows.joined(separator: "\n"))\n</ul>" + more
  }

  private func text(_ text: String) -> String { PageText.escaped(text) }
}
