import SnapshotFormat
import SnapshotStore
import Synchronization

/// A catalogue that can't be written while it is told to fail.
final class FailingCatalog: Catalog {
  struct Failure: Error {}

  let isFailing = Atomic(false)
  private let catalog = InMemoryCatalog()

  func insert(_ record: SnapshotRecord) async throws {
    if isFailing.load(ordering: .sequentiallyConsistent) { throw Failure() }
    await catalog.insert(record)
  }

  func remove(_ id: SnapshotID) async throws {
    if isFailing.load(ordering: .sequentiallyConsistent) { throw Failure() }
    await catalog.remove(id)
  }

  func records(of report: ReportID?, page: PageRequest) async throws -> Page {
    await catalog.records(of: report, page: page)
  }
}
