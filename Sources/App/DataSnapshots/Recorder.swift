import Foundation
import SnapshotFormat
import Synchronization
import SystemIO

/// Accepts data without waiting for the disk, and writes it asynchronously on one queue.
final class Recorder: Sendable {
  /// The items that are not on the disk yet.
  private struct Waiting {
    var items: [RecordingStore.Item] = []
    /// The index in ``items`` of each item that a newer one with the same key replaces.
    var latest: [RecordingStore.Item.Key: Int] = [:]
    /// The number of items, including those being written.
    var count = 0
    /// The bytes of all items, including those being written.
    var bytes = 0
    var isScheduled = false
  }

  /// The queue on which all writing is done.
  let queue = WorkQueue("recorder")
  private let configuration: SnapshotMode.Configuration
  private let policies: Policies
  private let store: RecordingStore
  private let waiting = Mutex(Waiting())

  init(
    _ storage: Storage, _ configuration: SnapshotMode.Configuration, _ policies: Policies,
    _ redactor: Redactor
  ) {
    self.configuration = configuration
    self.policies = policies
    store = RecordingStore(storage, configuration, policies, redactor)
  }

  /// Removes recordings that exceed the limits of age, size and number, which can have changed since the last launch.
  /// Called once at launch.
  func start() { queue.async { [store] in store.start() } }

  /// Records `data` under `identifier`, as the only call or as the next call of a history, as the policy specifies.
  func record(_ data: Data, as identifier: String) {
    let longest = Manifest.Limits.default.identifierLength
    guard identifier.utf8.count <= longest else {
      return refuse(identifier, "the identifier has \(identifier.utf8.count) bytes; the limit is \(longest)")
    }
    let item = RecordingStore.Item(
      key: .init(kind: .recording, name: identifier), data: data, time: configuration.clock())
    take(item, replacing: policies[identifier].retention == .latest)
  }

  /// Stores `data` as the attachment `name`.
  func attach(_ data: Data, as name: String) {
    let item = RecordingStore.Item(
      key: .init(kind: .attachment, name: name), data: data, time: configuration.clock())
    take(item, replacing: true)
  }

  private func take(_ item: RecordingStore.Item, replacing isReplacing: Bool) {
    let most = min(Int64(configuration.limits.recordingBytes), configuration.limits.totalBytes)
    guard item.data.count <= most else {
      return refuse(item.identifier, "it has \(item.data.count) bytes; the limit is \(most)")
    }
    let mostWaiting = configuration.waitingBytes
    let (isTaken, isFirst) = waiting.withLock { waiting in
      let place = isReplacing ? waiting.latest[item.key] : nil
      let bytes = waiting.bytes + item.data.count - (place.map { waiting.items[$0].data.count } ?? 0)
      guard bytes <= mostWaiting else { return (false, false) }
      if let place {
        waiting.items[place] = item
      } else {
        if isReplacing { waiting.latest[item.key] = waiting.items.count }
        waiting.items.append(item)
        waiting.count += 1
      }
      waiting.bytes = bytes
      defer { waiting.isScheduled = true }
      return (true, !waiting.isScheduled)
    }
    guard isTaken else {
      return refuse(item.identifier, "more than \(mostWaiting) bytes would wait to be written")
    }
    if isFirst { queue.async { [self] in writeWaiting() } }
  }

  private func refuse(_ identifier: String, _ reason: String) {
    configuration.onEvent(.init(.recordingRefused, identifier: identifier, reason))
  }

  // MARK: - Replaying

  /// Returns the bytes of the next call of `identifier` in `session`. Writes waiting items first.
  func data(for identifier: String, in session: ReplaySession) throws(ReplayProblem) -> Data {
    if waiting.withLock({ $0.count > 0 }), !queue.isCurrent { queue.sync { writeWaiting() } }
    return try store.data(for: identifier, in: session)
  }

  /// All recorded identifiers, in no particular order. Empty if the recordings can't be read.
  var identifiers: [String] { store.identifiers }

  // MARK: - On the queue

  /// Returns all recordings made before the call. Only on ``queue``.
  func list() throws(SystemError) -> [Storage.Recording] {
    writeWaiting()
    return try store.list()
  }

  /// Creates hard links to all recordings and attachments made before the call in a new folder, which later recordings
  /// don't change. Only on ``queue``.
  func freeze(into folder: String) throws(SystemError) -> RecordingStore.Frozen {
    writeWaiting()
    return try store.freeze(into: folder)
  }

  /// The names of the redaction rules that were applied to the recordings. Only on ``queue``.
  var redactions: [String] { store.redactions }

  /// Whether recording is paused until the disk has free space.
  var isPaused: Bool { store.isPaused }

  private func writeWaiting() {
    let items = waiting.withLock { waiting in
      defer {
        waiting.items = []
        waiting.latest = [:]
        waiting.isScheduled = false
      }
      return waiting.items
    }
    for item in items { store.write(item) }
    waiting.withLock { waiting in
      waiting.count -= items.count
      waiting.bytes -= items.reduce(0) { $0 + $1.data.count }
    }
  }

  /// Removes everything recorded before the call. Only on ``queue``.
  func clear() throws(SystemError) {
    waiting.withLock { waiting in
      waiting.count -= waiting.items.count
      waiting.bytes -= waiting.items.reduce(0) { $0 + $1.data.count }
      waiting.items = []
      waiting.latest = [:]
    }
    try store.clear()
  }
}
