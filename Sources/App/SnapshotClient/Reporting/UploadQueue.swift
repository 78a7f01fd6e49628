import Dispatch
public import Foundation
public import SnapshotFormat
import Synchronization
import SystemIO

/// Uploads bundles, each until the server has it or refuses it for good, across crashes and relaunches.
///
/// - It begins by itself, and tries again after a failure: later and later, no earlier than the server asks for by
///   `Retry-After`, and only over networks that its ``NetworkPolicy`` permits.
/// - `PUT` under the snapshot's own UUID makes a repeat harmless: whatever was cut short is done again.
/// - An answer of 401 or 403 makes it wait for another token (``use(_:)``). Other answers that no repeat would change
///   (400, 409, 410, 413, 415, 422, …) end the upload as ``QueuedUpload/State/failed(_:)``. Everything else is
///   tried again: there is no number of tries after which a bundle would be dropped.
/// - A bundle that is large enough for the client's ``ResumptionPolicy`` goes on where it broke, across relaunches too, and
///   a try that got further does not lengthen the wait for the next one.
/// - What it did stands in ``items``, and what it does in ``updates()``.
///
/// It keeps one folder for each upload in its own, with the bundle, a file that says how far it is, and one that says
/// where on the server it goes on. Safe to be used from many threads at once.
public final class UploadQueue: Sendable {
  /// What lies in the folder and can't be read as an upload: damaged, or of a newer version of this software. It is
  /// left as it is, counts towards no limit, and is looked at again when the folder is opened the next time.
  public let unreadable: [UnreadableUpload]

  let configuration: Configuration
  /// For all that reads or writes the folder, in order.
  let disk = DispatchQueue(label: "snapshot.uploads", qos: .utility)
  private let state: Mutex<State>

  /// What changes, under one lock.
  struct State: Sendable {
    var core: QueueCore
    var client: SnapshotAPIClient
    /// Counts the clients, so that an old token's refusal is not taken for the new one's.
    var generation = 0
    var isClosing = false
    /// `nil` once the queue is closed.
    var folder: QueueFolder?
    var running: [SnapshotID: Task<Void, Never>] = [:]
    var alarm: Task<Void, Never>?
    var subscribers = QueueUpdates.Subscribers()
  }

  /// Opens the queue in `folder`, which is made where it is missing, and goes on with what waits there. Reads some
  /// small files.
  ///
  /// Throws ``ReportingError/inUse(folder:)`` where another process or queue has the folder open, else
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
    do throws(SystemError) { found = try folder.load() } catch { throw .disk(error) }
    unreadable = found.unreadable
    self.configuration = configuration
    state = Mutex(
      State(
        core: QueueCore(
          found.items, backOff: configuration.backOff, concurrentUploads: configuration.concurrentUploads),
        client: client.withoutRetries(), folder: folder))
    pump()
  }

  deinit {
    state.withLock { state in
      state.alarm?.cancel()
      state.subscribers.finish()
    }
  }

  // MARK: - Looking

  /// The uploads, oldest first: those that wait, run or failed, and the last ones that are done.
  public var items: [QueuedUpload] { state.withLock { $0.core.ordered } }

  /// The upload of the snapshot `id`, where it is known here.
  public subscript(id: SnapshotID) -> QueuedUpload? { state.withLock { $0.core[id] } }

  /// Every upload as it is now, and then again whenever it changes. Who reads slowly sees the newest of each and no
  /// final state is ever passed over. Ends when the queue is closed.
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
  /// - Returns: how it ended; `nil` where it is not known here, or the queue was closed or the task cancelled before.
  public func outcome(of id: SnapshotID) async -> QueuedUpload? {
    var updates = updates().makeAsyncIterator()
    guard self[id] != nil else { return nil }
    while let item = await updates.next() {
      if item.id == id, item.state.isFinal { return item }
    }
    return nil
  }

  // MARK: - Steering

  /// Tries `id` again at once, whatever it waits for but the network; a failed one too, if its bundle is still here.
  ///
  /// Throws ``ReportingError/unknown(_:)`` where there is nothing to be tried. One that is uploading or done stays so.
  public func retryNow(_ id: SnapshotID) throws(ReportingError) {
    guard change({ $0.core.retryNow(id) }) else { throw .unknown(id) }
    pump()
  }

  /// Tries all that wait again at once, whatever they wait for but the network. Those that failed for good stay so.
  public func retryAllNow() {
    change { $0.core.retryAllNow() }
    pump()
  }

  /// Asks the ``NetworkPolicy`` again: what it permits now goes out, what it no longer permits is stopped and waits.
  /// What failed for want of a connection is tried at once.
  public func networkChanged() {
    let running = items.filter { $0.state == .uploading }
    let stopped = running.filter { !configuration.network.permits($0) }.map(\.id)
    change { state in
      for id in stopped { state.running[id]?.cancel() }
      state.core.connectionChanged()
    }
    pump()
  }

  /// Uploads with `client` from now on, one with another token say; what waits for a token is tried at once.
  public func use(_ client: SnapshotAPIClient) {
    change { state in
      state.client = client.withoutRetries()
      state.generation += 1
      state.core.tokenChanged()
    }
    pump()
  }

  /// Removes `id` with its bundle; stops it where it is uploading, and then the server may have got it all the same.
  ///
  /// Throws ``ReportingError/unknown(_:)`` where it is not known here, and ``ReportingError/disk(_:)``; then it is
  /// still in the list.
  public func remove(_ id: SnapshotID) async throws(ReportingError) {
    try await onDisk { [self] (folder) throws(ReportingError) in
      guard self[id] != nil else { throw .unknown(id) }
      do throws(SystemError) { try folder.retire(id) } catch { throw .disk(error) }
      change { state in
        state.running.removeValue(forKey: id)?.cancel()
        state.core.remove(id)
      }
    }
    pump()
  }

  /// Stops what runs, ends all ``updates()``, and lets go of the folder; what waits stays there for the next queue.
  public func close() async {
    let running = change { state in
      state.alarm?.cancel()
      state.alarm = nil
      state.isClosing = true
      return Array(state.running.values)
    }
    for task in running { task.cancel() }
    for task in running { await task.value }
    await disk.perform { [self] in
      change { state in
        state.folder?.close()
        state.folder = nil
        state.subscribers.finish()
      }
    }
  }

  // MARK: -

  /// Changes what there is in one step, and tells whoever looks on.
  @discardableResult
  func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
    state.withLock { state in
      let value = body(&state)
      state.subscribers.put(state.core.takeChanges())
      return value
    }
  }

  /// Runs `body` on the disk's thread with the folder, unless that is closed.
  func onDisk<Value: Sendable>(
    _ body: @escaping @Sendable (QueueFolder) throws(ReportingError) -> Value
  ) async throws(ReportingError) -> Value {
    try await disk.perform { [self] () throws(ReportingError) in
      guard let folder = change({ $0.folder }) else { throw .closed }
      return try body(folder)
    }
  }
}
