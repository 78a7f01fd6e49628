import AccessControl
import ServerTesting
import SnapshotServer

/// The page of a snapshot on a server that needs tokens, and a browser without a session.
struct GuardedPage {
  let guarded: GuardedAPI
  let bundle: ZippedSample
  let browser: PageBrowser

  init() async throws {
    guarded = try GuardedAPI()
    bundle = try ZippedSample()
    try await guarded.attach(bundle, guarded.token(.admin).fields)
    browser = PageBrowser(guarded.api)
  }
}

/// A suite in which each test has its own such page.
protocol GuardedPages {
  var guardedPage: GuardedPage { get }
}

extension GuardedPages {
  var guarded: GuardedAPI { guardedPage.guarded }
  var bundle: ZippedSample { guardedPage.bundle }
  var browser: PageBrowser { guardedPage.browser }
  var path: String { "/snapshots/\(bundle.id)" }
}
