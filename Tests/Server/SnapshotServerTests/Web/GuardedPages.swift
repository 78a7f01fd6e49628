import AccessControl
import SnapshotServer

/// The page of a snapshot on a server that needs tokens, and a browser without a session.
struct GuardedPage {
  let guarded: GuardedAPI
  let bundle: SampleBundle
  let browser: PageBrowser

  init() async throws {
    guarded = try GuardedAPI()
    bundle = try SampleBundle()
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
  var bundle: SampleBundle { guardedPage.bundle }
  var browser: PageBrowser { guardedPage.browser }
  var path: String { "/snapshots/\(bundle.id)" }
}
