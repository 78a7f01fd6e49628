public import Foundation
public import SnapshotFormat

/// A search in a catalogue. A record matches if it meets every condition that is not `nil`; a query without conditions
/// matches all records.
///
/// Values are compared exactly, except versions and text; canonically equivalent values, such as the composed and the
/// decomposed form of a file name (Unicode NFC and NFD), are equal. Values longer than ``SearchLimits`` allows are compared by a
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
  /// The device's model, also without the part after its comma, its system, or its system and version separated by a
  /// space, where later numbers of the version can be omitted: `iPhone17,1`, `iPhone17`, `iOS`, `iOS 26`, `iOS 26.1`.
  public var device: String?
  /// The earliest time of receipt, inclusive, to the millisecond.
  public var after: Date?
  /// The latest time of receipt, exclusive, to the millisecond.
  public var before: Date?
  /// Words that must all occur in the identifiers, metadata, report, application, device model, system or module names.
  ///
  /// A word of at least ``SearchLimits/prefixLetters`` letters or digits also finds longer words that begin with it:
  /// `balan` finds “balance”, `BUG-12` finds BUG-123, `iPhone14` finds iPhone14,5. A shorter word finds only itself.
  /// Case and accents are ignored. Chinese, Japanese and Korean text has no words: each pair of neighbouring characters
  /// must occur, anywhere in the text.
  ///
  /// At least ``SearchLimits/uuidDigits`` hexadecimal digits, with or without the hyphens of a UUID, also find the
  /// records whose ``/SnapshotFormat/SnapshotRecord/id`` or ``/SnapshotFormat/SnapshotRecord/manifestID`` begins with
  /// them.
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

  /// The conditions that a record's terms must all meet.
  package var conditions: [SearchCondition] {
    var conditions: [SearchCondition] = []
    if let report { conditions.append(SearchCondition(.report, report.description)) }
    if let application { conditions.append(SearchCondition(.application, application)) }
    if let module { conditions.append(SearchCondition(.module, module)) }
    if let identifier { conditions.append(SearchCondition(.identifier, identifier)) }
    if let device { conditions.append(SearchCondition(.device, device)) }
    if let text {
      for condition in SearchText(text).parts.flatMap(\.conditions) where !conditions.contains(condition) {
        conditions.append(condition)
      }
    }
    return conditions
  }

  /// Returns the same query, limited to records received on `day` or earlier. Days are counted from 1 January 1970.
  package func until(_ day: Int) -> CatalogQuery {
    var query = self
    let end = Date(timeIntervalSince1970: Double(day + 1) * 86_400)
    query.before = before.map { min($0, end) } ?? end
    return query
  }

  /// Whether the text contains no word. Such a query finds nothing.
  package var matchesNothing: Bool { text.map { SearchText($0).parts.isEmpty } ?? false }

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
