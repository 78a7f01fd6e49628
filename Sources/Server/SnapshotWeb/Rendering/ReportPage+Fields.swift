import SnapshotFormat

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
