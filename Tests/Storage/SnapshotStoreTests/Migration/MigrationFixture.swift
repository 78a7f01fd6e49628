import FileStore
import Foundation
import S3Client
import S3Store
import S3Testing
import SnapshotFormat
import SnapshotStore
import StoreTesting
import TestSupport
import Testing

/// A place for snapshots in a test: a folder, or a prefix in an object store.
struct MigrationPlace: Sendable, Hashable, CustomTestStringConvertible {
  enum Kind: Sendable, CaseIterable {
    case folder, objects
  }

  let kind: Kind
  let name: String

  var testDescription: String { "\(kind)" }

  static let folder = pair(.folder)
  static let objects = pair(.objects)
  static let source = [folder.source, objects.source]
  static let target = [folder.target, objects.target]

  private static func pair(_ kind: Kind) -> (source: MigrationPlace, target: MigrationPlace) {
    (MigrationPlace(kind: kind, name: "source"), MigrationPlace(kind: kind, name: "target"))
  }
}

/// An object store and a folder, which contain the places of a test.
struct MigrationFixture: Sendable {
  let server: FakeS3Server
  let folder: TemporaryFolder
  /// How often requests of migrations are sent.
  var attempts = 5

  init(_ server: FakeS3Server) throws {
    self.server = server
    folder = try TemporaryFolder()
    // A server creates the key when it starts.
    try folder.write(Data("the key of \(folder.path)".utf8), to: "source/keys/links")
  }

  /// Runs `body` with an object store.
  static func with(_ body: (MigrationFixture) async throws -> Void) async throws {
    try await withFakeS3 { try await body(try MigrationFixture($0)) }
  }

  /// The path of a folder.
  func path(_ place: MigrationPlace) -> String { folder.file(place.name).path }

  /// The key of an object in a place.
  func key(_ place: MigrationPlace, _ key: String) -> String { "\(place.name)/\(key)" }

  /// Runs `body` with the store that a server uses at this place.
  @discardableResult
  func using<Value>(
    _ place: MigrationPlace, _ body: (any BundleStore & UploadStore) async throws -> Value
  ) async throws -> Value {
    switch place.kind {
    case .folder:
      let store = try await FileBundleStore.open(
        FileBundleStore.Configuration(path: path(place), validator: .samples, reserve: 0), logger: .quiet)
      return try await Self.ending({ try await body(store) }, by: { _ = await store.close() })
    case .objects:
      let node = try await S3Node(server, prefix: place.name) { $0.orphanAge = .zero }
      return try await Self.ending({ try await body(node.store) }, by: { await node.store.close() })
    }
  }

  private static func ending<Value>(
    _ body: () async throws -> Value, by close: () async -> Void
  ) async throws -> Value {
    let result: Result<Value, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    await close()
    return try result.get()
  }

  /// The bytes that clients get of a bundle.
  func bytes(of id: SnapshotID, in place: MigrationPlace) async throws -> [UInt8] {
    try await using(place) { try await $0.open(id).contents }
  }

  // MARK: Migrations

  /// The object store below the name of a place.
  func objects(_ place: MigrationPlace) throws -> MigratedStore {
    MigratedStore(
      try .of(server, prefix: place.name, attempts: attempts), scratch: folder.url.path)
  }

  func source(_ place: MigrationPlace) async throws -> any MigrationSource {
    switch place.kind {
    case .folder: try FolderSource(path(place), validate: SampleBundle.validate)
    case .objects: try await S3MigrationSource.open(objects(place))
    }
  }

  func target(_ place: MigrationPlace, origin: String) async throws -> any MigrationTarget {
    switch place.kind {
    case .folder: try await folderTarget(path(place), origin: origin)
    case .objects: try await S3MigrationTarget.open(objects(place), origin: origin)
    }
  }

  /// Opens a folder. The queue of a run that has just ended can keep it locked for a moment.
  private func folderTarget(_ path: String, origin: String) async throws -> FolderTarget {
    let deadline = ContinuousClock.now + .seconds(5)
    while true {
      do throws(TransferError) { return try FolderTarget.open(path, origin: origin) } catch {
        guard case .inUse = error, ContinuousClock.now < deadline else { throw error }
        await Task.yield()
      }
    }
  }

  /// Opens both places.
  func migration(from source: MigrationPlace, to target: MigrationPlace) async throws -> SnapshotMigration {
    let origin = try await self.source(source)
    return SnapshotMigration(
      from: origin, to: try await self.target(target, origin: try await origin.identity))
  }

  /// Removes a place.
  func remove(_ place: MigrationPlace) throws {
    switch place.kind {
    case .folder: try FileManager.default.removeItem(atPath: path(place))
    case .objects:
      for key in server.keys where key.hasPrefix("\(place.name)/") { server[key] = nil }
    }
  }
}

/// Everything that clients can learn about the snapshots of a store.
struct StoreContents: Sendable, Hashable {
  var records: [SnapshotID: SnapshotRecord] = [:]
  /// The bytes, or the error when they are read.
  var bundles: [SnapshotID: String] = [:]

  init(of store: any BundleStore, _ ids: [SnapshotID]) async throws {
    for var record in try await store.allRecords() {
      // The bytes of a copy have another name.
      record.attempt = nil
      records[record.id] = record
    }
    for id in ids {
      do { bundles[id] = "\(ContentDigest.of(try await store.open(id).contents))" } catch {
        bundles[id] = (error as? StoreError)?.word ?? "\(error)"
      }
    }
  }
}
