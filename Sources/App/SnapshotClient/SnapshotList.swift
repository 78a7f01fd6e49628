public import Foundation
public import SnapshotFormat

/// The snapshots of a list. Pages are requested as they are needed.
public struct SnapshotList: AsyncSequence, Sendable {
  /// The type of the elements.
  public typealias Element = SnapshotRecord
  /// The error that ends the iteration.
  public typealias Failure = SnapshotClientError

  let client: SnapshotAPIClient
  let filter: SnapshotFilter

  /// Creates an iterator that starts at the first snapshot.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(list: self) }

  /// An iteration over a list.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let list: SnapshotList
    private var rest: ArraySlice<SnapshotRecord> = []
    private var next: String?
    private var isFirst = true

    fileprivate init(list: SnapshotList) { self.list = list }

    /// Returns the next record; `nil` at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(SnapshotClientError) -> SnapshotRecord? {
      while rest.isEmpty, isFirst || next != nil {
        let page = try await list.client.page(list.filter, after: next)
        isFirst = false
        rest = page.records[...]
        next = page.next
      }
      return rest.popFirst()
    }
  }
}

/// Criteria for a list of snapshots. A snapshot must meet all criteria that are set; without criteria, all snapshots
/// match.
public struct SnapshotFilter: Sendable, Hashable {
  /// The bug report to which the snapshot is attached.
  public var report: ReportID?
  /// The application's identifier.
  public var application: String?
  /// The lowest version of the application. 3.1 includes all versions that start with 3.1.
  public var minimumVersion: String?
  /// The highest version of the application. 3.1 includes all versions that start with 3.1.
  public var maximumVersion: String?
  /// A module that the application registered.
  public var module: String?
  /// The identifier of a recording.
  public var identifier: String?
  /// The device's model, its system, or its system and version: `iPhone17,1`, `iOS`, `iOS 26.1`.
  public var device: String?
  /// The earliest time of receipt.
  public var after: Date?
  /// The time before which the snapshot was received.
  public var before: Date?
  /// Words that must all occur in the identifiers, metadata, report, application, device model or module names.
  public var text: String?

  /// Creates a filter without criteria other than `report`.
  public init(report: ReportID? = nil) { self.report = report }

  /// The API's query parameters of all criteria except the report.
  var parameters: [(name: String, value: String)] {
    let all: [(name: String, value: String?)] = [
      ("application", application), ("minVersion", minimumVersion), ("maxVersion", maximumVersion),
      ("module", module), ("identifier", identifier), ("device", device),
      ("after", after.map(SnapshotJSON.text)),
      ("before", before.map(SnapshotJSON.text)), ("text", text),
    ]
    return all.compactMap { name, value in value.map { (name, $0) } }
  }
}
