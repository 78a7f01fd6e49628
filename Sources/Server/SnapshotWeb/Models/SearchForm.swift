/// A field of the search on the home page, and the parameter in its address: those of the API's lists.
package enum SearchField: String, Sendable, Hashable, CaseIterable {
  /// Words, a UUID or a report's id: the large box.
  case text
  /// The report that it is attached to.
  case report
  /// The application's identifier.
  case application
  /// The application's version, or the beginning of it.
  case version
  /// The lowest version.
  case minVersion
  /// The highest version.
  case maxVersion
  /// A registered module's name.
  case module
  /// An identifier that is recorded.
  case identifier
  /// The device's model, or its system.
  case device
  /// Received on that day or later.
  case after
  /// Received before that day.
  case before
}

/// What is looked for on the home page, as it was entered.
package struct SearchForm: Sendable, Hashable {
  /// What each field has; one that is empty is as good as not there.
  package var values: [SearchField: String]
  /// Why this can't be looked for, in a sentence.
  package var mistake: String?

  /// A form.
  package init(_ values: [SearchField: String] = [:], mistake: String? = nil) {
    self.values = values.filter { !$0.value.isEmpty }
    self.mistake = mistake
  }

  /// Whether nothing is looked for.
  package var isEmpty: Bool { values.isEmpty }
}
