import Foundation
import HTTPClient
import HTTPTypes
public import SnapshotFormat

extension SnapshotAPIClient {
  /// One page of a list.
  public struct Page: Sendable, Hashable {
    /// The page's records, newest first.
    public let records: [SnapshotRecord]
    /// The cursor of the next page; `nil` on the last page.
    public let next: String?
    /// The number of snapshots that match the filter, or the number at which the server stopped counting; `nil` unless
    /// requested.
    public let total: Int?
    /// Whether `total` is the exact number.
    public let totalIsExact: Bool
  }

  /// Returns the record of the snapshot `id`.
  public func record(_ id: SnapshotID) async throws(SnapshotClientError) -> SnapshotRecord {
    let response = try await perform(address.request(.get, ["snapshots", id.description]))
    return try decode(SnapshotRecord.self, from: response)
  }

  /// Deletes the snapshot `id`. If it is already deleted, this throws ``SnapshotClientError/Code/gone``, unless an
  /// earlier attempt of this call could have deleted it.
  public func delete(_ id: SnapshotID) async throws(SnapshotClientError) {
    let response = try await perform(
      address.request(.delete, ["snapshots", id.description]), successWhenRepeated: [410])
    guard [204, 410].contains(response.head.status.code) else { throw contradiction(in: response) }
  }

  /// The snapshots attached to `report`, or all snapshots to which the token gives access, newest first. Pages are
  /// requested as they are needed.
  public func list(report: ReportID? = nil) -> SnapshotList { list(SnapshotFilter(report: report)) }

  /// The snapshots that match `filter` and to which the token gives access, newest first. Pages are requested as they
  /// are needed.
  public func list(_ filter: SnapshotFilter) -> SnapshotList { SnapshotList(client: self, filter: filter) }

  /// Returns one page of ``list(report:)``.
  /// - Parameters:
  ///   - report: the bug report; `nil` for the snapshots of all reports.
  ///   - limit: the maximum number of records; ``ClientLimits/pageLength`` by default.
  ///   - cursor: ``Page/next`` of the previous page; `nil` for the first page.
  public func page(
    of report: ReportID? = nil, limit: Int? = nil, after cursor: String? = nil
  ) async throws(SnapshotClientError) -> Page {
    try await page(SnapshotFilter(report: report), limit: limit, after: cursor)
  }

  /// Returns one page of ``list(_:)``.
  /// - Parameters:
  ///   - filter: selects the snapshots.
  ///   - limit: the maximum number of records; ``ClientLimits/pageLength`` by default.
  ///   - cursor: ``Page/next`` of the previous page; `nil` for the first page.
  ///   - total: whether the server counts the matches.
  public func page(
    _ filter: SnapshotFilter, limit: Int? = nil, after cursor: String? = nil, total: Bool = false
  ) async throws(SnapshotClientError) -> Page {
    var query = filter.parameters
    query.append(("limit", "\(limit ?? configuration.limits.pageLength)"))
    if total { query.append(("total", "true")) }
    if let cursor { query.append(("cursor", cursor)) }
    let path = filter.report.map { ["reports", $0.description, "snapshots"] } ?? ["snapshots"]
    let response = try await perform(address.request(.get, path, query: query))
    let answer = try decode(PageAnswer.self, from: response)
    guard answer.next == nil || answer.next != cursor,
      answer.next?.utf8.count ?? 0 <= configuration.limits.cursorBytes
    else {
      throw SnapshotClientError(
        .unexpectedAnswer, "its cursor of the next page is invalid", status: response.head.status.code)
    }
    return Page(
      records: answer.snapshots, next: answer.next, total: answer.total,
      totalIsExact: answer.totalIsExact ?? false)
  }

  /// Starts to rebuild the server's catalog, and returns immediately; see ``indexingProgress()``.
  public func reindex() async throws(SnapshotClientError) -> IndexingProgress {
    try decode(IndexingProgress.self, from: await perform(address.request(.post, ["reindex"])))
  }

  /// Returns the state of the server's catalog.
  public func indexingProgress() async throws(SnapshotClientError) -> IndexingProgress {
    try decode(IndexingProgress.self, from: await perform(address.request(.get, ["reindex"])))
  }

  private struct PageAnswer: Decodable {
    let snapshots: [SnapshotRecord]
    let next: String?
    let total: Int?
    let totalIsExact: Bool?
  }
}
