import AccessControl
import Observability
import SnapshotFormat
import SnapshotStore
import StoreTesting
import Synchronization
import SystemIO

/// A store in memory that counts how uploads end, and fails on demand.
final class ObservedStore: BundleStore {
  /// Where to fail.
  enum Step: Hashable { case begin, append, commit, record, open, delete }

  struct Ends: Equatable {
    var begun = 0
    var committed = 0
    /// Discarded without having been committed.
    var discarded = 0
  }

  private struct State {
    var ends = Ends()
    var failures: [Step: StoreError] = [:]
    var expectedLengths: [Int64?] = []
  }

  private let store: InMemoryStore
  /// Where uploads that may be resumed are kept, and published.
  var uploads: any UploadStore { store }
  private let state = Mutex(State())
  private let discards = AsyncStream.makeStream(of: Void.self)

  init(uploadLimits: UploadLimits = UploadLimits()) {
    store = InMemoryStore(validator: UploadValidator(wholeUpTo: 0), uploadLimits: uploadLimits)
  }

  /// What was said of the lengths of uploads when they began.
  var expectedLengths: [Int64?] { state.withLock { $0.expectedLengths } }

  var ends: Ends { state.withLock { $0.ends } }

  /// Waits until an upload was discarded.
  func discarded() async { for await _ in discards.stream { return } }

  fileprivate func countDiscard() {
    count { $0.discarded += 1 }
    discards.continuation.yield()
  }

  func fail(_ step: Step, with error: StoreError) { state.withLock { $0.failures[step] = error } }

  fileprivate func check(_ step: Step) throws(StoreError) {
    if let failure = state.withLock({ $0.failures[step] }) { throw failure }
  }

  fileprivate func count(_ change: (inout Ends) -> Void) { state.withLock { change(&$0.ends) } }

  func beginUpload(expecting length: Int64?) async throws(StoreError) -> any BundleUpload {
    state.withLock { $0.expectedLengths.append(length) }
    try check(.begin)
    count { $0.begun += 1 }
    return ObservedUpload(store: self, upload: try await store.beginUpload(expecting: length))
  }

  func record(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    try check(.record)
    return try await store.record(id)
  }

  func open(_ id: SnapshotID) async throws(StoreError) -> StoredBundle {
    try check(.open)
    return try await store.open(id)
  }

  func delete(_ id: SnapshotID) async throws(StoreError) {
    try check(.delete)
    try await store.delete(id)
  }

  func delete(
    _ id: SnapshotID, if condition: @escaping @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> Bool {
    try check(.delete)
    return try await store.delete(id, if: condition)
  }

  @discardableResult
  func change(_ change: RecordChange, of id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    try await store.change(change, of: id)
  }

  @discardableResult
  func setAside(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord { try await store.setAside(id) }

  func ids(in shard: SnapshotShard) async throws(StoreError) -> [SnapshotID] {
    try await store.ids(in: shard)
  }

  func records(_ ids: [SnapshotID]) async throws(StoreError) -> [SnapshotRecord] {
    try await store.records(ids)
  }
}

private final class ObservedUpload: BundleUpload {
  private let store: ObservedStore
  private let upload: any BundleUpload
  private let isCommitted = Atomic(false)

  init(store: ObservedStore, upload: any BundleUpload) {
    self.store = store
    self.upload = upload
  }

  func append(_ bytes: IOBuffer) async throws(StoreError) {
    try store.check(.append)
    try await upload.append(bytes)
  }

  func commit(_ attachment: Attachment) async throws(StoreError) -> Publication {
    try store.check(.commit)
    let publication = try await upload.commit(attachment)
    isCommitted.store(true, ordering: .sequentiallyConsistent)
    store.count { $0.committed += 1 }
    return publication
  }

  func discard() async {
    await upload.discard()
    if !isCommitted.load(ordering: .sequentiallyConsistent) { store.countDiscard() }
  }
}
