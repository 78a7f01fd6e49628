import SnapshotAPI
import SnapshotStore

extension HomePage: Page {
  var template: PageTemplates.Name { .home }
  var title: String { search.isEmpty ? "Data Snapshots" : "Search" }

  func fields(in frame: PageFrame) -> Fields {
    let isFirst = !list.isContinued
    return [
      "isSearch": !search.isEmpty,
      "search": search.fields,
      "heading": search.isEmpty ? (isFirst ? "Newest snapshots" : "Older snapshots") : "Search results",
      "list": list.fields(showsReport: true) { PagePath.home(search, cursor: $0).description },
      "chart": search.isEmpty && isFirst && !frame.hasOneUser ? ActivityChart(days)?.fields : nil,
      "deletion": deletion,
      "webhooks": showsWebhooks && search.isEmpty && isFirst ? PagePath.webhooks.description : nil,
      "contents": search.values[.text].map { PagePath.search(.newest, find: $0).description },
      "contentsCount": Measures.number(SearchPage.snapshots),
      "withoutFilters": search.withoutFilters.map { PagePath.home($0).description },
      "examples": Self.examples.map { ["example": $0.example, "meaning": $0.meaning] as Fields },
      "filterNames": Self.filterNames,
      "isFresh": search.isEmpty && isFirst && list.records.isEmpty && list.outage == nil,
    ]
  }
}

extension HomePage {
  /// The link to the page that deletes the results of a search.
  private var deletion: Fields? {
    guard mayDelete, !search.isEmpty, !list.records.isEmpty else { return nil }
    let count = list.totalIsExact ? list.total.map { Measures.count($0, "snapshot") } : nil
    return ["href": PagePath.deletion(search).description, "count": count ?? "snapshots"]
  }

  /// What a search finds, shown where it found nothing.
  private static let examples: [(example: String, meaning: String)] = [
    ("negative balance", "both words, anywhere in a note, a field, an identifier or a name"),
    (
      "balan",
      "words that begin so, such as “balance”: from \(SearchLimits.prefixLetters) letters or digits on"
    ),
    ("BUG-12", "reports: BUG-12, BUG-123"),
    ("3.1", "versions: 3.1, 3.1.2"),
    (
      "1f0c3a5b",
      "a snapshot by its UUID, or the beginning of it: from \(SearchLimits.uuidDigits) digits on"
    ),
    ("news/feed", "recorded identifiers"),
    ("iPhone14", "devices: iPhone14,5"),
    ("残高", "Chinese, Japanese and Korean text, also in the middle"),
  ]

  private static let filterNames = SearchForm.filters
    .map { $0.label.prefix(1).lowercased() + $0.label.dropFirst() }.joined(separator: ", ")
}

extension SearchForm {
  /// The filters of the form, with their labels and examples.
  fileprivate static let filters: [(field: SearchField, label: String, example: String)] = [
    (.report, "Report", "BUG-123"),
    (.application, "Application", "com.example.news"),
    (.version, "Version", "3.1"),
    (.minVersion, "From version", "3.0"),
    (.maxVersion, "To version", "3.2"),
    (.device, "Device", "iPhone17, iPhone17,1 or iOS 26"),
    (.module, "Module", "Feed"),
    (.identifier, "Recorded identifier", "news/feed"),
    (.after, "Received from (UTC)", "2026-11-01"),
    (.before, "Received before (UTC)", "2026-12-01"),
  ]

  /// The same search without filters; `nil` if it has no filters or no text.
  fileprivate var withoutFilters: SearchForm? {
    guard let text = values[.text], values.count > 1 else { return nil }
    return SearchForm([.text: text])
  }

  var fields: Fields {
    let filters = SearchField.allCases.filter { $0 != .text && values[$0] != nil }
    return [
      "action": PagePath.home().description,
      "field": SearchField.text.rawValue,
      "text": values[.text].map { PageText.cut($0, to: 2000).text },
      "hasFilters": !filters.isEmpty,
      "isEmpty": isEmpty,
      "mistake": mistake.map { PageText.cut($0, to: 600).text },
      "filters": Self.filters.map { field, label, example -> Fields in
        [
          "id": field.rawValue, "label": label, "example": example,
          "type": field == .after || field == .before ? "date" : "text",
          "value": values[field].map { PageText.cut($0, to: 600).text },
        ]
      },
    ]
  }
}
