import Foundation
import HTTPTransport
import HTTPTypes
public import SnapshotFormat

extension SnapshotAPIClient {
  /// One page of a list.
  public struct Page: Sendable, Hashable {
    /// The page's records, newest first.
    public let records: [SnapshotRecord]
    /// What to ask the next page with; `nil` on the last one.
    public let next: String?
    /// How many snapshots the filter finds, or as far as the server counted; `nil` unless it was asked.
    public let total: Int?
    /// Whether `total` is all of them.
    public let totalIsExact: Bool
  }

  /// What the server knows of the snapshot `id`.
  public func record(_ id: SnapshotID) async throws(SnapshotClientError) -> SnapshotRecord {
    let response = try await perform(address.request(.get, ["snapshots", id.description]))
    return try decode(SnapshotRecord.self, from: response)
  }

  /// Deletes the snapshot `id`. One that is deleted already is taken as done where this call may have done it and
  /// lost the answer; else it is ``SnapshotClientError/Code/gone``.
  public func delete(_ id: SnapshotID) async throws(SnapshotClientError) {
    _ = try await perform(
      address.request(.delete, ["snapshots", id.description]), successWhenRepeated: [410])
  }

  /// The snapshots that are attached to `report`, or all that the token may see, newest first, fetched page by
  /// page as they are asked for.
  public func list(report: ReportID? = nil) -> SnapshotList { list(SnapshotFilter(report: report)) }

  /// The snapshots that `filter` finds among those that the token may see, newest first, fetched page by page as they
  /// are asked for.
  public func list(_ filter: SnapshotFilter) -> SnapshotList { SnapshotList(client: self, filter: filter) }

  /// One page of ``list(report:)``.
  /// - Parameters:
  ///   - limit: how many records at most; without it ``ClientLimits/pageLength``.
  ///   - cursor: the former page's ``Page/next``; `nil` for the first page.
  public func page(
    of report: ReportID? = nil, limit: Int? = nil, after cursor: String? = nil
  ) async throws(SnapshotClientError) -> Page {
    try await page(SnapshotFilter(report: report), limit: limit, after: cursor)
  }

  /// One page of ``list(_:)``.
  /// - Parameters:
  ///   - limit: how many records at most; without it ``ClientLimits/pageLength``.
  ///   - cursor: the former page's ``Page/next``; `nil` for the first page.
  ///   - total: whether the server is to count what the filter finds.
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
        .unexpectedAnswer, "the next page it names can't be asked for", status: response.head.status.code)
    }
    return Page(
      records: answer.snapshots, next: answer.next, total: answer.total,
      totalIsExact: answer.totalIsExact ?? false)
  }

  /// Has the server make its catalogue anew; returns at once, see ``indexingProgress()``.
  public func reindex() async throws(SnapshotClientError) -> IndexingProgress {
    try decode(IndexingProgress.self, from: await perform(address.request(.post, ["reindex"])))
  }

  /// How far the server's catalogue is.
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
