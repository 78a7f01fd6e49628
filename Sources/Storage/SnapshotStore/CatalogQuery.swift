public import Foundation
public import SnapshotFormat

/// A search in a catalogue. A record matches if it meets every condition that is not `nil`; a query without conditions
/// matches all records.
///
/// Values are compared exactly, except versions and text. Values longer than ``SearchLimits`` allows are compared by a
/// digest, and a text by its first words, in every catalogue in the same way.
public struct CatalogQuery: Sendable, Hashable {
  /// The report that the snapshot is attached to.
  public var report: ReportID?
  /// The identifier of the application.
  public var application: String?
  /// The versions of the application.
  public var versions: VersionRange?
  /// The name of a module that the application had registered.
  public var module: String?
  /// An identifier in the recording.
  public var identifier: String?
  /// The device's model, its system, or its system and version separated by a space: `iPhone17,1`, `iOS`, `iOS 26.1`.
  public var device: String?
  /// The earliest time of receipt, inclusive, to the millisecond.
  public var after: Date?
  /// The latest time of receipt, exclusive, to the millisecond.
  public var before: Date?
  /// Words that must all occur as whole words in the identifiers, metadata, report, application, device model or module
  /// names. Case and accents are ignored. Both UUIDs of a record with
  /// ``/SnapshotFormat/SnapshotRecord/manifestID`` are found too.
  public var text: String?
  /// The records that the caller is allowed to see.
  public var scope: Scope?

  /// A restriction to the records that a caller is allowed to see.
  public struct Scope: Sendable, Hashable {
    /// The prefixes of the allowed reports' names. `nil` allows all reports, an empty array none.
    public var reportPrefixes: [String]?
    /// The identifiers of the allowed applications. `nil` allows all applications, an empty array none.
    public var applications: [String]?

    /// Creates a restriction.
    public init(reportPrefixes: [String]? = nil, applications: [String]? = nil) {
      self.reportPrefixes = reportPrefixes
      self.applications = applications
    }

    /// Whether a record of `report` and `application` is visible.
    public func allows(report: ReportID, application: String) -> Bool {
      allowsReport(report.description) && (applications?.contains(application) ?? true)
    }

    package func allowsReport(_ report: String) -> Bool {
      reportPrefixes.map { $0.contains { report.utf8.starts(with: $0.utf8) } } ?? true
    }
  }

  /// Creates a query for the records of `report`, or for all records.
  public init(report: ReportID? = nil) { self.report = report }

  /// The terms that a record must all have.
  package var terms: [String] {
    var terms: [String] = []
    if let report { terms.append(SearchTerm.of(.report, report.description)) }
    if let application { terms.append(SearchTerm.of(.application, application)) }
    if let module { terms.append(SearchTerm.of(.module, module)) }
    if let identifier { terms.append(SearchTerm.of(.identifier, identifier)) }
    if let device { terms.append(SearchTerm.of(.device, device)) }
    if let text {
      for word in SearchWords(text, limit: SearchLimits.queryWords).words where !terms.contains(word) {
        terms.append(word)
      }
    }
    return terms
  }

  /// Returns the same query, limited to records received on `day` or earlier. Days are counted from 1 January 1970.
  package func until(_ day: Int) -> CatalogQuery {
    var query = self
    let end = Date(timeIntervalSince1970: Double(day + 1) * 86_400)
    query.before = before.map { min($0, end) } ?? end
    return query
  }

  /// Whether the text contains no word. Such a query finds nothing.
  package var asksForNothing: Bool { text.map { SearchWords($0, limit: 1).words.isEmpty } ?? false }

  /// The range of allowed times of receipt, in milliseconds since 1970; `nil` if it is empty.
  package var milliseconds: ClosedRange<Int64>? {
    let lowest = after.map(Cursor.milliseconds) ?? .min
    let highest = before.map { Cursor.milliseconds($0) - 1 } ?? .max
    return lowest <= highest ? lowest...highest : nil
  }
}

/// The number of records that match a query.
public struct CatalogTotal: Sendable, Hashable {
  /// The maximum count of a query with conditions.
  public static let maximum = 100_000
  /// The number of records, at most ``maximum`` for a query with conditions.
  public var count: Int
  /// Whether ``count`` is the exact number. If not, there are more records.
  public var isExact: Bool

  /// Creates a total.
  public init(count: Int, isExact: Bool = true) {
    self.count = count
    self.isExact = isExact
  }
}
