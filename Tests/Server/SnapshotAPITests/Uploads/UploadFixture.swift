import AccessControl
import FileStore
import Foundation
import HTTPEngine
import Logging
import Observability
import S3Client
import S3Store
import S3Testing
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotService
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport

/// The upload stores that the tests run with.
enum UploadStoreKind: CaseIterable, Sendable { case memory, files, objects }

/// A service with an empty store of its own, without a socket and without tokens.
final class UploadFixture: Sendable {
  let clock = HandClock()
  let catalog = InMemoryCatalog()
  let report: ReportID
  private let kind: UploadStoreKind
  private let limits: UploadLimits
  private let folder: TemporaryFolder
  private let objects: (server: FakeS3Server, rows: InMemoryUploadRows)?
  let store: any BundleStore & UploadStore
  let service: UploadService

  /// The caller of requests without a token.
  static let anybody = Caller.anybody(at: ClientAddress(peer: "127.0.0.1:4711"))

  convenience init(_ kind: UploadStoreKind, _ configure: (inout UploadLimits) -> Void = { _ in }) async throws
  {
    var limits = UploadLimits()
    limits.length = 1 << 20
    configure(&limits)
    let objects = kind == .objects ? (try await FakeS3Server.start(), InMemoryUploadRows()) : nil
    try await self.init(kind, limits, TemporaryFolder(), objects)
  }

  private init(
    _ kind: UploadStoreKind, _ limits: UploadLimits, _ folder: TemporaryFolder,
    _ objects: (FakeS3Server, InMemoryUploadRows)?
  ) async throws {
    (self.kind, self.limits, self.folder, self.objects) = (kind, limits, folder, objects)
    report = try ReportID(validating: "BUG-1")
    let clock = clock
    let validator = UploadValidator(now: { clock.now })
    let logger = Logger.quiet
    switch kind {
    case .memory: store = InMemoryStore(validator: validator, uploadLimits: limits)
    case .files:
      var configuration = FileBundleStore.Configuration(
        path: folder.path + "/Storage", validator: validator, reserve: 0)
      configuration.uploads = limits
      store = try await FileBundleStore.open(configuration, logger: logger)
    case .objects:
      guard let objects else { throw UploadError.unknown }
      var configuration = S3BundleStore.Configuration(folder: folder.path, validator: validator)
      configuration.uploads = limits
      configuration.partBytes = 1000
      store = try await S3BundleStore.open(
        configuration, client: .of(objects.0), rows: objects.1, logger: logger)
    }
    service = UploadService(
      SnapshotService(store: store, catalog: catalog), store: store,
      clock: DeletionClock(.init(now: { clock.now }, elapsed: { clock.elapsed })), logger: logger)
  }

  /// The same storage in another server. The first one may not be used any more.
  func restarted() async throws -> UploadFixture {
    await closeStore()
    return try await UploadFixture(kind, limits, folder, objects)
  }

  func close() async {
    await closeStore()
    await objects?.server.stop()
  }

  private func closeStore() async {
    await (store as? FileBundleStore)?.close()
    await (store as? S3BundleStore)?.close()
  }

  /// Creates an upload of `bundle`.
  func open(
    _ bundle: ZippedSample, deferred: Bool = false, expected: ContentDigest? = nil,
    of caller: Caller = anybody
  ) async throws -> UploadStatus {
    let attachment = Attachment(report: report, id: bundle.id, expected: expected)
    return try await service.create(
      UploadTerms(.whole(attachment), length: deferred ? nil : Int64(bundle.bytes.count), dialect: "test"),
      of: caller)
  }

  @discardableResult
  func append(
    _ bytes: some Collection<UInt8>, to id: UploadID, at offset: Int64, length: Int64? = nil,
    completes: Bool? = nil, digest: StatedDigest? = nil, isChunked: Bool = false, size: Int = 1000,
    of caller: Caller = anybody, end: @escaping @Sendable () async throws -> Void = {}
  ) async throws -> UploadStatus {
    try await service.append(
      id, AppendRequest(offset: offset, length: length, completes: completes, digest: digest),
      body: .pieces(of: Array(bytes), size: size, isChunked: isChunked, end: end), of: caller)
  }

  /// The bytes that are published under `id`.
  func contents(_ id: SnapshotID) async throws -> [UInt8] {
    let file = try await store.open(id).file
    return try file.read(upTo: Int(file.size), at: 0)
  }
}

/// The error that was thrown, as the name of its case; `nil` if nothing was thrown.
func uploadFailure(_ body: () async throws -> Void) async -> String? {
  do {
    try await body()
    return nil
  } catch let error as UploadError {
    if case .store(let error) = error { return "store \(word(error))" }
    return word(error)
  } catch {
    return "\(error)"
  }
}

private func word(_ error: some Error) -> String {
  if let error = error as? StoreError, case .conflict = error { return "conflict" }
  if let error = error as? StoreError, case .alreadyExists = error { return "alreadyExists" }
  if let error = error as? StoreError, case .deleted = error { return "deleted" }
  return Mirror(reflecting: error).children.first?.label ?? "\(error)"
}
