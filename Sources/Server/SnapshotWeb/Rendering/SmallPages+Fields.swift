import SnapshotAPI
import SnapshotFormat

extension SignInPage {
  var title: String { "Sign in" }

  var fields: Fields {
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

extension SignedOutPage {
  var title: String { "Signed out" }

  var fields: Fields { ["signIn": PagePath.signIn().description] }
}

extension ProblemPage {
  var fields: Fields {
    [
      "status": status, "problem": PageText.cut(title, to: 400).text,
      "detail": PageText.cut(detail, to: 4000).text, "requestID": requestID,
      "home": PagePath.home().description,
    ]
  }
}

extension LinkPage {
  var title: String { "Link to \(record.shortID)" }

  var fields: Fields {
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
