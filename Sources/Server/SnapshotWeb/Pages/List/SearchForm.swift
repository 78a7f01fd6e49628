/// A field of the search form, and the parameter in the page's URL. The names are those of the API's lists.
enum SearchField: String, Sendable, Hashable, CaseIterable {
  /// Words, a UUID or a report's id: the main search field.
  case text
  /// The report to which the snapshot is attached.
  case report
  /// The application's identifier.
  case application
  /// The application's version, or a prefix of it.
  case version
  /// The lowest version.
  case minVersion
  /// The highest version.
  case maxVersion
  /// A registered module's name.
  case module
  /// A recorded identifier.
  case identifier
  /// The device's model or system.
  case device
  /// Received on this day or later.
  case after
  /// Received before this day.
  case before
}

/// The search on the home page, as the user entered it.
struct SearchForm: Sendable, Hashable {
  /// The values of the fields. Empty values count as missing.
  var values: [SearchField: String]
  /// A sentence about why the search is not valid.
  var mistake: String?

  /// Creates a form. Drops empty values.
  init(_ values: [SearchField: String] = [:], mistake: String? = nil) {
    self.values = values.filter { !$0.value.isEmpty }
    self.mistake = mistake
  }

  /// Whether the search has no values.
  var isEmpty: Bool { values.isEmpty }
}
