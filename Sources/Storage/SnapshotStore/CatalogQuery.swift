public import Foundation
public import SnapshotFormat

/// What to look for in a catalogue: records of which all that is said here holds. Without anything, all records.
///
/// Values are compared exactly, but for versions and text. What is longer than ``SearchLimits`` allow finds the same in
/// every catalogue: it is compared by a digest, or, in text, word by word up to the limits.
public struct CatalogQuery: Sendable, Hashable {
  /// The report that it is attached to.
  public var report: ReportID?
  /// The application's identifier.
  public var application: String?
  /// The application's versions.
  public var versions: VersionRange?
  /// The name of a module that the application had registered.
  public var module: String?
  /// An identifier that is recorded.
  public var identifier: String?
  /// The device's model, its system, or system and version with a space between: `iPhone17,1`, `iOS`, `iOS 26.1`.
  public var device: String?
  /// Received at that time or later, to the millisecond.
  public var after: Date?
  /// Received before that time, to the millisecond.
  public var before: Date?
  /// Words that all occur in identifiers, metadata, report, application, device model or modules' names, as whole words,
  /// without regard to capitals and accents.
  public var text: String?
  /// What the caller may see.
  public var scope: Scope?

  /// Limits of who asks.
  public struct Scope: Sendable, Hashable {
    /// Only reports whose names begin with one of these; `nil` is no limit, and without any nothing is found.
    public var reportPrefixes: [String]?
    /// Only these applications; `nil` is no limit, and without any nothing is found.
    public var applications: [String]?

    /// Limits.
    public init(reportPrefixes: [String]? = nil, applications: [String]? = nil) {
      self.reportPrefixes = reportPrefixes
      self.applications = applications
    }

    /// Whether a record of `report` and `application` may be seen.
    public func allows(report: ReportID, application: String) -> Bool {
      allowsReport(report.description) && (applications?.contains(application) ?? true)
    }

    package func allowsReport(_ report: String) -> Bool {
      reportPrefixes.map { $0.contains { report.utf8.starts(with: $0.utf8) } } ?? true
    }
  }

  /// Looks for everything, but for `report`.
  public init(report: ReportID? = nil) { self.report = report }

  /// The terms that a record must have, all of them.
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

  /// The same query, of nothing that was received after `day`, which counts from 1 January 1970.
  package func until(_ day: Int) -> CatalogQuery {
    var query = self
    let end = Date(timeIntervalSince1970: Double(day + 1) * 86_400)
    query.before = before.map { min($0, end) } ?? end
    return query
  }

  /// Whether it asks for words, and there is none in what it asks for: nothing is found then.
  package var asksForNothing: Bool { text.map { SearchWords($0, limit: 1).words.isEmpty } ?? false }

  /// The first and the last millisecond, since 1970, that a record may have been received in.
  package var milliseconds: ClosedRange<Int64>? {
    let lowest = after.map(Cursor.milliseconds) ?? .min
    let highest = before.map { Cursor.milliseconds($0) - 1 } ?? .max
    return lowest <= highest ? lowest...highest : nil
  }
}

/// How many records a query finds.
public struct CatalogTotal: Sendable, Hashable {
  /// How far is counted where there is something to look for.
  public static let maximum = 100_000
  /// The number, or the largest that was counted to.
  public var count: Int
  /// Whether there are no more.
  public var isExact: Bool

  /// A number.
  public init(count: Int, isExact: Bool = true) {
    self.count = count
    self.isExact = isExact
  }
}
