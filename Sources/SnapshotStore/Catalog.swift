public import SnapshotFormat

/// An index over the records of a store; it can always be made anew from them.
///
/// The rules that every catalogue obeys, so that calls about one record may arrive in any order:
/// - ``remove(_:)`` is final, as a store's deletion is: to insert a removed id does nothing.
/// - A record that is `pending` never replaces one with the same id whose verification is settled.
/// - Lists are newest first, by ``SnapshotRecord/receivedAt`` to the millisecond and then by id, descending.
///   Who follows ``Page/next`` sees every record that was there at the beginning and is still there exactly once,
///   and none that arrives meanwhile with a later time.
/// - Finding a page costs the logarithm of the records listed, whatever the page and however many other reports
///   there are.
public protocol Catalog: Sendable {
  /// Adds a record, or replaces the one with the same id.
  func insert(_ record: SnapshotRecord) async throws
  /// Removes a record for good, if it is there.
  func remove(_ id: SnapshotID) async throws
  /// One page of the records of `report`, or of all reports where it is `nil`, newest first; empty where the report
  /// is unknown.
  func records(of report: ReportID?, page: PageRequest) async throws -> Page
}
