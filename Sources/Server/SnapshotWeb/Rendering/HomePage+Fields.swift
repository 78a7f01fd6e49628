import SnapshotAPI

extension HomePage {
  var title: String { search.isEmpty ? "Data Snapshots" : "Search" }

  var fields: Fields {
    let isFirst = !list.isContinued
    return [
      "isSearch": !search.isEmpty,
      "search": search.fields,
      "heading": search.isEmpty ? (isFirst ? "Newest snapshots" : "Older snapshots") : "Search results",
      "list": list.fields(showsReport: true) { PagePath.home(search, cursor: $0).description },
      "chart": search.isEmpty && isFirst ? ActivityChart(days)?.fields : nil,
      "isFresh": search.isEmpty && isFirst && list.records.isEmpty && list.outage == nil,
    ]
  }
}

extension SearchForm {
  var fields: Fields {
    func field(_ field: SearchField, _ label: String, _ example: String, type: String = "text") -> Fields {
      [
        "id": field.rawValue, "label": label, "example": example, "type": type,
        "value": values[field].map { PageText.cut($0, to: 600).text },
      ]
    }
    let filters = SearchField.allCases.filter { $0 != .text && values[$0] != nil }
    return [
      "action": PagePath.home().description,
      "field": SearchField.text.rawValue,
      "text": values[.text].map { PageText.cut($0, to: 2000).text },
      "hasFilters": !filters.isEmpty,
      "isEmpty": isEmpty,
      "mistake": mistake.map { PageText.cut($0, to: 600).text },
      "filters": [
        field(.report, "Report", "BUG-123"),
        field(.application, "Application", "com.example.news"),
        field(.version, "Version", "3.1"),
        field(.minVersion, "From version", "3.0"),
        field(.maxVersion, "To version", "3.2"),
        field(.device, "Device", "iPhone17,1 or iOS 26.1"),
        field(.module, "Module", "Feed"),
        field(.identifier, "Recorded identifier", "news/feed"),
        field(.after, "Received from", "2026-11-01", type: "date"),
        field(.before, "Received before", "2026-12-01", type: "date"),
      ],
    ]
  }
}
