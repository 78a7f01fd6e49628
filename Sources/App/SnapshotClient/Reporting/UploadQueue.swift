import Dispatch
public import Foundation
public import SnapshotFormat
import SystemIO

/// Uploads bundles until the server stores or permanently rejects them, across crashes and relaunches.
///
/// - Uploads start automatically, and are retried after a failure with increasing delays, not before the time that the
///   server requests by `Retry-After`, and only over networks that the ``NetworkPolicy`` permits.
/// - `PUT` with the snapshot's UUID is idempotent, so that interrupted uploads can be repeated safely.
/// - After a 401 or 403 response of the server, the upload waits for a client with another token (``use(_:)``). Other
///   responses of the server that a retry would not change (400, 409, 410, 413, 415, 422, …) end the upload as
///   ``QueuedUpload/State/failed(_:)``, and so do 404, 405 and 421 if they are repeated. All other failures are retried,
///   whatever a proxy or the like answers; the number of attempts is not limited.
/// - A bundle that meets the client's ``ResumptionPolicy`` is resumed after a failure, even after a relaunch. An
///   attempt that made progress does not increase the delay of the next one.
/// - With ``Configuration/background``, the system goes on while the app is suspended or does not run.
/// - ``items`` contains the current state of all uploads, and ``updates()`` their changes.
///
/// The queue's folder contains one folder for each upload, with the bundle, its state, and the address of a resumable
/// upload. All methods are thread-safe.
public final class UploadQueue: Sendable {
  /// The uploads in the folder that can't be read, because they are damaged or were written by a newer version of this
  /// software. They are left unchanged, do not count towards the limits, and are read again when the folder is opened
  /// the next time.
  public let unreadable: [UnreadableUpload]

  let configuration: Configuration
  /// Serializes all access to the folder.
  let disk = DispatchQueue(label: "snapshot.uploads", qos: .utility)
  private let state: Lock<State>

  /// The mutable state, protected by one lock.
  struct State: Sendable {
    var core: QueueCore
    var client: SnapshotAPIClient
    /// Counts the clients, so that a rejection of an old token is not attributed to a new one.
    var generation = 0
    var isClosing = false
    /// `nil` once the queue is closed.
    var folder: QueueFolder?
    var running: [SnapshotID: Task<Void, Never>] = [:]
    var alarm: Task<Void, Never>?
    /// Whether it is not known yet what the system sends of an earlier process.
    var isTakingOver: Bool
    /// The latest piece that the system got of each upload, also from an earlier process.
    var pieces: [SnapshotID: BackgroundPiece] = [:]
    /// Finished when no upload needs the app.
    var resting: [AsyncStream<Never>.Continuation] = []
    var subscribers = QueueUpdates.Subscribers()
  }

  /// Opens the queue in `folder`, which is created if it is missing, and resumes pending uploads. Blocks while it reads
  /// small files.
  ///
  /// Throws ``ReportingError/inUse(folder:)`` if another process or queue has opened the folder, otherwise
  /// ``ReportingError/disk(_:)``.
  public convenience init(
    folder: URL, client: SnapshotAPIClient, configuration: Configuration = Configuration()
  ) throws(ReportingError) {
    try self.init(folder: QueueFolder(folder.path), client, configuration)
  }

  init(
    folder: QueueFolder, _ client: SnapshotAPIClient, _ configuration: Configuration
  ) throws(ReportingError) {
    let found: (items: [QueuedUpload], unreadable: [UnreadableUpload])
    do { found = try folder.load() } catch { throw .disk(error) }
    unreadable = found.unreadable
    self.configuration = configuration
    state = Lock(
      State(
        core: QueueCore(
          found.items, backOff: configuration.backOff, concurrentUploads: configuration.concurrentUploads),
        client: client.forQueue(), folder: folder, isTakingOver: configuration.background != nil))
    if let background = configuration.background {
      Task(priority: .utility) { [weak self] in await self?.takeOver(background) }
    } else {
      pump()
    }
  }

  deinit {
    state.withLock { state in
      state.alarm?.cancel()
      state.subscribers.finish()
    }
  }

  // MARK: - Inspection

  /// All uploads, oldest first: pending, running and failed ones, and the most recent completed ones.
  public var items: [QueuedUpload] { state.withLock { $0.core.ordered } }

  /// The upload of the snapshot `id`, or `nil` if it is not in the queue.
  public subscript(id: SnapshotID) -> QueuedUpload? { state.withLock { $0.core[id] } }

  /// The current state of each upload, and each upload again whenever it changes. A slow reader receives only the
  /// latest state of each upload, but never misses a final state. The sequence ends when the queue is closed.
  public func updates() -> QueueUpdates {
    QueueUpdates { [self] in
      state.withLock { state in
        let subscription = QueueUpdates.Subscription(state.core.ordered)
        state.subscribers.add(subscription)
        return subscription
      }
    }
  }

  /// Waits until the upload of `id` is `done`, `failed` or `removed`.
  /// - Returns: the upload in its final state; `nil` if the upload is not in the queue, the queue is closed or the task
  ///   is cancelled.
  public func outcome(of id: SnapshotID) async -> QueuedUpload? {
    var updates = updates().makeAsyncIterator()
    guard self[id] != nil else { return nil }
    while let item = await updates.next() {
      if item.id == id, item.state.isFinal { return item }
    }
    return nil
  }

  // MARK: - Control

  /// Retries the upload of `id` without waiting for its time or a token; it still waits for a permitted network. A
  /// failed upload is retried too, if its bundle still exists.
  ///
  /// Throws ``ReportingError/unknown(_:)`` if there is no upload to retry. A running or completed upload is not
  /// affected.
  public func retryNow(_ id: SnapshotID) throws(ReportingError) {
    guard change({ $0.core.retryNow(id) }) else { throw .unknown(id) }
    pump()
  }

  /// Retries all waiting uploads without waiting for their times or a token; they still wait for a permitted network.
  /// Permanently failed uploads are not affected.
  public func retryAllNow() {
    change { $0.core.retryAllNow() }
    pump()
  }

  /// Evaluates the ``NetworkPolicy`` again: uploads that it permits now can start, and running ones that it does not
  /// permit any more are stopped and wait. Uploads that failed because of the connection are retried immediately.
  public func networkChanged() {
    let running = items.filter { $0.state == .uploading }
    let stopped = running.filter { !configuration.network.permits($0) }.map(\.id)
    change { state in
      for id in stopped { state.running[id]?.cancel() }
      state.core.connectionChanged()
    }
    if configuration.background != nil {
      Task { for id in stopped { await cancelPieces(of: id) } }
    }
    pump()
  }

  /// Uses `client` for all later uploads, for example one with another token. Uploads that wait for a token are retried
  /// immediately.
  public func use(_ client: SnapshotAPIClient) {
    change { state in
      state.client = client.forQueue()
      state.generation += 1
      state.core.tokenChanged()
    }
    pump()
  }

  /// Removes the upload of `id` and its bundle. A running upload is cancelled, but the server can have stored it
  /// already.
  ///
  /// Throws ``ReportingError/unknown(_:)`` if the upload is not in the queue, and ``ReportingError/disk(_:)`` if it
  /// can't be removed; it then remains in the list.
  public func remove(_ id: SnapshotID) async throws(ReportingError) {
    try await onDisk { [self] (folder) throws(ReportingError) in
      guard self[id] != nil else { throw .unknown(id) }
      do throws(SystemError) { try folder.retire(id) } catch { throw .disk(error) }
      change { state in
        state.running.removeValue(forKey: id)?.cancel()
        state.core.remove(id)
      }
    }
    await cancelPieces(of: id)
    pump()
  }

  /// Cancels running uploads, ends all ``updates()``, and unlocks the folder. Pending uploads remain there for the next
  /// queue; what the system sends in the background goes on until then.
  public func close() async {
    let running = change { state in
      state.alarm?.cancel()
      state.alarm = nil
      state.isClosing = true
      return Array(state.running.values)
    }
    for task in running { task.cancel() }
    for task in running { await task.value }
    endRest()
    await disk.perform { [self] in
      change { state in
        state.folder?.close()
        state.folder = nil
        state.subscribers.finish()
      }
    }
  }

  // MARK: -

  /// Changes the state under the lock, and notifies the subscribers.
  @discardableResult
  func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
    state.withLock { state in
      let value = body(&state)
      state.subscribers.put(state.core.takeChanges())
      return value
    }
  }

  /// Runs `body` with the folder on the disk queue; throws if the queue is closed.
  func onDisk<Value: Sendable>(
    _ body: @escaping @Sendable (QueueFolder) throws(ReportingError) -> Value
  ) async throws(ReportingError) -> Value {
    try await disk.perform { [self] () throws(ReportingError) in
      guard let folder = change({ $0.folder }) else { throw .closed }
      return try body(folder)
    }
  }
}
