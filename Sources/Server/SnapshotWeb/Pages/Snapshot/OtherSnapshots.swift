import AccessControl
import Observability
import SnapshotAPI
import SnapshotFormat
import SnapshotService
import SnapshotStore

/// The snapshots with which one can be compared.
struct OtherSnapshots: Sendable {
  /// The other snapshots of the report, newest first, and then those of the application.
  var candidates: [SnapshotRecord] = []
  /// The one to compare with unless another is chosen; `nil` if there is none.
  var proposed: SnapshotRecord?
}

extension OtherSnapshots {
  /// Chooses what is proposed: the newest snapshot of the same application that is marked as good, of the report if it has
  /// one, and otherwise the snapshot of the report before `record`.
  init(for record: SnapshotRecord, ofReport: [SnapshotRecord], ofApplication: [SnapshotRecord]) {
    // The contents of a sealed snapshot can't be compared.
    let own = ofReport.filter { $0.id != record.id && $0.sealed == nil }
    let known = Set(own.map(\.id))
    let others = ofApplication.filter {
      $0.id != record.id && $0.sealed == nil && !known.contains($0.id)
    }
    candidates = own + others
    let application = record.application.identifier
    let position = Cursor(after: record)
    proposed =
      candidates.first { $0.isGood && $0.application.identifier == application }
      ?? own.first { Cursor(after: $0) < position && $0.application.identifier == application }
  }
}

extension SnapshotService {
  /// Finds the snapshots with which `record` can be compared, among the newest of its report and its application that
  /// `caller` may read. While the catalogue is not available, finds none.
  func otherSnapshots(for record: SnapshotRecord, _ caller: Caller) async throws -> OtherSnapshots {
    var query = CatalogQuery(report: record.report)
    query.scope = CatalogQuery.Scope(caller.limits)
    do {
      let ofReport = try await page(query, PageRequest(limit: PageLimits.rows)).filtered(caller.mayRead)
      query.report = nil
      query.application = record.application.identifier
      let ofApplication = try await page(query, PageRequest(limit: PageLimits.rows)).filtered(caller.mayRead)
      return OtherSnapshots(
        for: record, ofReport: ofReport.records, ofApplication: ofApplication.records)
    } catch {
      guard error.isTemporary else { throw error }
      return OtherSnapshots()
    }
  }
}
