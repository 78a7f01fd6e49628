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

extension ReportPage {
  var title: String { report.description }

  var fields: Fields {
    var budget = PageBudget(800)
    let newest = list.records.prefix(2)
    return [
      "report": budget.name(report.description, most: 800),
      "list": list.fields(showsReport: false) { PagePath.report(report, cursor: $0).description },
      "compare": newest.count == 2 && !list.isContinued
        ? PagePath.diff(newest[1].id, with: newest[0].id).description : nil,
    ]
  }
}
