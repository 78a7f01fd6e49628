import AccessControl
import Observability
package import SnapshotFormat
package import SnapshotStore
import StoreTesting
import SystemIO

/// A store that counts the outcomes of uploads, and fails on demand.
package final class ObservedStore: BundleStore, UploadStore {
  /// The steps at which it can fail.
  package enum Step: Hashable { case begin, append, commit, record, open, delete }

  /// How many uploads began, and how they ended.
  package struct Ends: Equatable {
    package var begun: Int
    package var committed: Int
    /// Discarded without a commit.
    package var discarded: Int

    /// The outcomes of uploads; by default there were none.
    package init(begun: Int = 0, committed: Int = 0, discarded: Int = 0) {
      (self.begun, self.committed, self.discarded) = (begun, committed, discarded)
    }
  }

  private struct State {
    var ends = Ends()
    var failures: [Step: StoreError] = [:]
    var expectedLengths: [Int64?] = []
  }

  private let store: any BundleStore & UploadStore
  /// The store of resumable uploads, which publishes here.
  package var uploads: any UploadStore { store }
  private let state = Lock(State())
  private let discards = AsyncStream.makeStream(of: Void.self)

  /// - Parameter store: the store that is observed.
  package init(_ store: any BundleStore & UploadStore) { self.store = store }

  /// The expected lengths of uploads, in the order in which they began.
  package var expectedLengths: [Int64?] { state.withLock { $0.expectedLengths } }

  /// The outcomes so far.
  package var ends: Ends { state.withLock { $0.ends } }

  /// Waits until an upload was discarded.
  package func discarded() async { for await _ in discards.stream { return } }

  fileprivate func countDiscard() {
    count { $0.discarded += 1 }
    discards.continuation.yield()
  }

  /// Lets `step` fail with `error` from now on.
  package func fail(_ step: Step, with error: StoreError) { state.withLock { $0.failures[step] = error } }

  fileprivate func check(_ step: Step) throws(StoreError) {
    if let failure = state.withLock({ $0.failures[step] }) { throw failure }
  }

  fileprivate func count(_ change: (inout Ends) -> Void) { state.withLock { change(&$0.ends) } }

  package func beginTransientUpload(
    _ terms: UploadTerms, limit: Int64, expecting length: Int64?
  ) async throws(UploadError) -> any TransientUpload {
    state.withLock { $0.expectedLengths.append(length) }
    try UploadError.storing { () throws(StoreError) in try check(.begin) }
    count { $0.begun += 1 }
    return ObservedUpload(
      store: self, upload: try await store.beginTransientUpload(terms, limit: limit, expecting: length))
  }

  package var uploadLimits: UploadLimits { store.uploadLimits }

  package func createUpload(_ terms: UploadTerms) async throws(UploadError) -> UploadSession {
    try await store.createUpload(terms)
  }

  package func uploadSession(_ id: UploadID) async throws(UploadError) -> UploadSession {
    try await store.uploadSession(id)
  }

  package func uploadSessions() async -> [UploadSession] { await store.uploadSessions() }

  package func beginAppending(
    _ request: AppendRequest, bytes: Int64?, to id: UploadID
  ) async throws(UploadError) -> any UploadAppending {
    try await store.beginAppending(request, bytes: bytes, to: id)
  }

  package func commitUpload(
    _ id: UploadID, as attachment: Attachment
  ) async throws(UploadError) -> UploadSession {
    try await store.commitUpload(id, as: attachment)
  }

  package func removeUpload(_ id: UploadID) async throws(UploadError) { try await store.removeUpload(id) }

  package func record(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    try check(.record)
    return try await store.record(id)
  }

  package func open(_ id: SnapshotID) async throws(StoreError) -> StoredBundle {
    try check(.open)
    return try await store.open(id)
  }

  package func delete(_ id: SnapshotID) async throws(StoreError) {
    try check(.delete)
    try await store.delete(id)
  }

  package func delete(
    _ id: SnapshotID, if condition: @escaping @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> Bool {
    try check(.delete)
    return try await store.delete(id, if: condition)
  }

  @discardableResult
  package func change(_ change: RecordChange, of id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    try await store.change(change, of: id)
  }

  @discardableResult
  package func setAside(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    try await store.setAside(id)
  }

  package func ids(in shard: SnapshotShard) async throws(StoreError) -> [SnapshotID] {
    try await store.ids(in: shard)
  }

  package func records(_ ids: [SnapshotID]) async throws(StoreError) -> [SnapshotRecord] {
    try await store.records(ids)
  }
}

private final class ObservedUpload: TransientUpload {
  private let store: ObservedStore
  private let upload: any TransientUpload
  private let isCommitted = Lock(false)

  init(store: ObservedStore, upload: any TransientUpload) {
    self.store = store
    self.upload = upload
  }

  func write(_ bytes: IOBuffer) async throws(UploadError) {
    try UploadError.storing { () throws(StoreError) in try store.check(.append) }
    try await upload.write(bytes)
  }

  func checkpoint() async throws(UploadError) -> Int64 { try await upload.checkpoint() }

  func commit(_ attachment: Attachment) async throws(StoreError) -> Publication {
    try store.check(.commit)
    let publication = try await upload.commit(attachment)
    isCommitted.set(true)
    store.count { $0.committed += 1 }
    return publication
  }

  func end(_ ending: UploadEnding) async throws(UploadError) -> UploadSession {
    if ending != .finished, !isCommitted.value { store.countDiscard() }
    return try await upload.end(ending)
  }
}
