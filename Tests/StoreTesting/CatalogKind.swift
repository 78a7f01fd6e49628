package import Foundation
import PostgreSQLStore
import PostgreSQLTesting
import SQLiteCatalog
package import SnapshotFormat
package import SnapshotStore
import TestSupport
import Testing

/// The catalogues that must follow the same rules.
package enum CatalogKind: CaseIterable, Sendable {
  case memory, sqlite, postgresql
  /// PostgreSQL, which checks few of the newest rows before it uses the index of the terms.
  case postgresqlIndex

  /// The catalogues that can be tested on this machine.
  package static let allCases: [CatalogKind] =
    [.memory, .sqlite] + (PostgreSQLServer.isInstalled ? [.postgresql, .postgresqlIndex] : [])

  /// Calls `body` with an empty, complete catalogue.
  package func withCatalog(_ body: (any Catalog) async throws -> Void) async throws {
    switch self {
    case .memory:
      try await body(InMemoryCatalog())
    case .sqlite:
      let folder = try TemporaryFolder()
      let catalog = try await SQLiteCatalog.open(.init(path: folder.file("catalog.sqlite").path))
      try await catalog.complete(generation: try await catalog.state().generation)
      do { try await body(catalog) } catch {
        await catalog.close()
        throw error
      }
      await catalog.close()
    case .postgresql, .postgresqlIndex:
      try await withDatabase { configuration in
        let catalog = try await PostgreSQLCatalog.open(
          configuration, checkedRows: self == .postgresql ? 500 : 2)
        defer { catalog.close() }
        try await catalog.complete(generation: try await catalog.state().generation)
        try await body(catalog)
      }
    }
  }
}

/// Creates a record with the given properties.
package func record(
  at time: TimeInterval = 1_800_000_000, report: String = "BUG-123", id: SnapshotID = SnapshotID(),
  identifiers: [String]? = nil, _ change: (inout SnapshotRecord) -> Void = { _ in }
) throws -> SnapshotRecord {
  var record = SnapshotRecord(
    id: id, report: try ReportID(validating: report), size: 1, sha256: .of(Array("\(id)".utf8)),
    receivedAt: Date(timeIntervalSince1970: time), verified: .intact, manifest: SampleBundle.manifest(id))
  record.identifiers = identifiers
  change(&record)
  return record
}

extension SnapshotRecord {
  /// The record as ``SettledRecords`` have it.
  package var settled: SnapshotRecord {
    var settled = listed
    settled.attempt = attempt
    return settled
  }
}

/// The ids of the found records as letters: `a` for the first of `records`.
func found(
  _ change: (inout CatalogQuery) throws -> Void, in catalog: any Catalog, _ records: [SnapshotRecord]
) async throws -> String {
  var query = CatalogQuery()
  try change(&query)
  let ids = try await catalog.page(query, PageRequest()).records.map(\.id)
  #expect(try await catalog.total(query) == CatalogTotal(count: ids.count))
  let letters = Array("abcdefghijklmnopqrstuvwxyz")
  return String(ids.compactMap { id in records.firstIndex { $0.id == id }.map { letters[$0] } })
}
