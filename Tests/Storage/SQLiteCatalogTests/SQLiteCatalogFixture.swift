import Foundation
import SQLiteCatalog
import SnapshotFormat
import SnapshotStore
import SystemIO
import TestSupport

/// A folder with a catalogue.
struct SQLiteCatalogFixture {
  let folder: TemporaryFolder
  let path: String
  /// The reasons for which databases were discarded.
  let losses = Losses()

  final class Losses: Sendable {
    private let reasons = Lock<[String]>([])
    var all: [String] { reasons.withLock { $0 } }
    func add(_ reason: String) { reasons.withLock { $0.append(reason) } }
  }

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("catalog.sqlite").path
  }

  func open() async throws -> SQLiteCatalog {
    try await SQLiteCatalog.open(.init(path: path) { [losses] in losses.add($0) })
  }

  /// A complete catalogue of these records.
  func filled(_ records: [SnapshotRecord]) async throws -> SQLiteCatalog {
    let catalog = try await open()
    try await catalog.insert(records)
    try await catalog.complete(generation: try await catalog.state().generation)
    return catalog
  }

  func list(_ catalog: SQLiteCatalog) async throws -> [SnapshotID] {
    try await catalog.page(CatalogQuery(), PageRequest()).records.map(\.id)
  }
}
