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
