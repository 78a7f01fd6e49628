import Foundation
import SnapshotAPI
import SnapshotFormat

/// The page after a link to a bundle was created.
struct LinkPage: Sendable, Hashable {
  /// The snapshot.
  var record: SnapshotRecord
  /// The link, including the server's origin.
  var link: String
  /// The time at which the link expires.
  var expiresAt: Date
}

/// The page about a problem.
struct ProblemPage: Sendable, Hashable {
  /// The status of the response.
  var status: Int
  /// The problem's title.
  var title: String
  /// A description in one or two sentences.
  var detail: String
  /// The request's id, as in the server's log.
  var requestID: String?
}

/// The page `/sign-in`, with a form for a token.
struct SignInPage: Sendable, Hashable {
  /// The destination after signing in: a path on this server.
  var next: String = "/"
  /// A sentence about why signing in is necessary, or why the token was rejected.
  var reason: String?
  /// Whether ``reason`` is about a rejected token.
  var isMistake: Bool = false
}

/// The page after signing out.
struct SignedOutPage: Sendable, Hashable {}

extension SignInPage: Page {
  var template: PageTemplates.Name { .signIn }
  var title: String { "Sign in" }

  func fields(in _: PageFrame) -> Fields {
    [
      "action": PagePath.signIn().description,
      "tokenField": PageField.token.rawValue,
      "nextField": PageField.next.rawValue,
      "next": PageText.cut(next, to: 8000).text,
      "reason": reason.map { PageText.cut($0, to: 1000).text },
      "isMistake": isMistake,
    ]
  }
}

extension SignedOutPage: Page {
  var template: PageTemplates.Name { .signedOut }
  var title: String { "Signed out" }

  func fields(in _: PageFrame) -> Fields { ["signIn": PagePath.signIn().description] }
}

extension ProblemPage: Page {
  var template: PageTemplates.Name { .problem }

  func fields(in frame: PageFrame) -> Fields {
    [
      "status": status, "problem": PageText.cut(title, to: 400).text,
      "detail": PageText.cut(detail, to: 4000).text, "requestID": frame.hasOneUser ? nil : requestID,
      "home": frame.hasOneUser && frame.account == .signedOut ? nil : PagePath.home().description,
    ]
  }
}

extension LinkPage: Page {
  var template: PageTemplates.Name { .link }
  var title: String { "Link to \(record.shortID)" }

  func fields(in _: PageFrame) -> Fields {
    var budget = PageBudget(1200)
    return [
      "applicationName": budget.name(record.applicationName, most: 300),
      "short": record.shortID,
      "snapshot": PagePath.snapshot(record.id).description,
      "report": record.reportFields(&budget),
      "link": link,
      "expires": Measures.timeFields(expiresAt),
    ]
  }
}
