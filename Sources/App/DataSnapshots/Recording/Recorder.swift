import Foundation
import Redaction
import SnapshotFormat
import SystemIO

/// Accepts data and writes it in two steps: first redacted into the journal, which takes microseconds, then into a file
/// of its own, which waits for the disk.
///
/// The first step runs on ``intake``, or on the caller's thread before the call returns
/// (``SnapshotMode/Configuration/durability``). The second one runs on ``queue``.
final class Recorder: Sendable {
  /// The items that are not on the disk yet.
  private struct Waiting {
    /// Whether the recordings of the last run are complete.
    var isStarted = false
    /// Whether the last record could be appended to the journal.
    var isJournaled = true
    /// Items that are not redacted yet.
    var arrived = Pending<RecordingStore.Item>()
    /// The number of items of each key that are being redacted. A later item of the same key must come after them.
    var inWork: [RecordingStore.Key: Int] = [:]
    /// Redacted items that are not in their own files yet.
    var ready = Pending<RecordingStore.Ready>()
    /// The number of items, including those being redacted or written.
    var count = 0
    /// The bytes of all items before redaction.
    var bytes = 0
  }

  /// The queue on which files are written, listed and removed.
  let queue = WorkQueue("recorder")
  /// What has passed here survives a crash, so it does not wait for the app's other work.
  private let intake = WorkQueue("intake", priority: .userInitiated)
  private let configuration: SnapshotMode.Configuration
  private let policies: Policies
  private let store: RecordingStore
  private let journal: RecordingJournal
  /// Held until the last pending write is done.
  private let claim: FolderClaim
  private let waiting = Lock(Waiting())
  /// Held while items are redacted, so that those of the same key stay in order.
  private let redacting = Lock(0)

  init(
    _ storage: Storage, _ configuration: SnapshotMode.Configuration, _ policies: Policies,
    _ redactor: Redactor, _ claim: FolderClaim
  ) {
    self.configuration = configuration
    self.policies = policies
    self.claim = claim
    store = RecordingStore(storage, configuration, redactor)
    journal = RecordingJournal(storage.journal)
  }

  /// Completes what the last run left, applies new rules and changed limits, and sets the recordings of the last run
  /// aside. Called once at launch.
  func start() {
    queue.async { [self] in
      store.start(journal)
      waiting.withLock { $0.isStarted = true }
    }
  }

  /// Records `data` under `identifier`, as the only call or as the next call of a history, as the policy specifies.
  func record(_ data: Data, as identifier: String) {
    take(data, as: identifier, nil, policies[identifier].retention)
  }

  /// Records an exchange under `identifier`, as the next call of its history.
  /// - Parameter limit: how many calls are kept, unless the policy specifies a history.
  func record(_ exchange: CompletedExchange, as identifier: String, limit: Int) {
    let policy = policies[identifier].retention
    let retention = policy.keepsHistory ? policy : .history(limit: limit)
    take(exchange.body, as: identifier, exchange.stored, retention)
  }

  private func take(
    _ data: Data, as identifier: String, _ exchange: StoredExchange?,
    _ retention: SnapshotMode.Policy.Retention
  ) {
    let longest = Manifest.Limits.default.identifierLength
    guard identifier.utf8.count <= longest else {
      let reason = "the identifier has \(identifier.utf8.count) bytes; the limit is \(longest)"
      return drop(
        .init(.identifierTooLong, String(identifier.prefix(100)), data.count), .recordingRefused, reason)
    }
    take(
      RecordingStore.Item(
        key: .init(kind: exchange == nil ? .recording : .exchange, name: identifier), data: data,
        exchange: exchange, time: configuration.clock(), retention: retention))
  }

  /// Counts and reports that an exchange is not recorded.
  func refuse(_ identifier: String, _ reason: Manifest.Dropped.Reason, bytes: Int, _ explanation: String) {
    drop(.init(reason, identifier, bytes), .recordingRefused, explanation)
  }

  /// Counts and reports that the value of `identifier` can't be encoded.
  func refuse(_ identifier: String, notEncoded error: any Error) {
    drop(
      .init(.notEncoded, identifier, 0), .recordingRefused, "it can't be encoded as JSON: \(error)")
  }

  /// Stores `data` as the attachment `name`.
  func attach(_ data: Data, as name: String) {
    take(
      RecordingStore.Item(
        key: .init(kind: .attachment, name: name), data: data, time: configuration.clock(), retention: .latest
      ))
  }

  private func take(_ item: RecordingStore.Item) {
    let most = min(Int64(configuration.limits.recordingBytes), configuration.limits.totalBytes)
    guard item.size <= most else {
      return drop(
        .init(.tooLarge, item.identifier, item.size), .recordingRefused,
        "it has \(item.size) bytes; the limit is \(most)")
    }
    let isSynchronous = configuration.durability.isSynchronous(item.size)
    let mostWaiting = configuration.waitingBytes
    enum Step { case refuse, now, later }
    let step: Step = waiting.withLock { waiting in
      let replaced = item.isReplacing ? waiting.arrived[item.key]?.size : nil
      let bytes = waiting.bytes + item.size - (replaced ?? 0)
      guard bytes <= mostWaiting else { return .refuse }
      waiting.bytes = bytes
      if replaced == nil { waiting.count += 1 }
      // An item must not overtake an earlier one of the same key.
      if isSynchronous, !waiting.arrived.contains(item.key), waiting.inWork[item.key] == nil {
        waiting.inWork[item.key] = 1
        return .now
      }
      waiting.arrived.add(item, for: item.key, isReplacing: item.isReplacing)
      return .later
    }
    switch step {
    case .refuse:
      drop(
        .init(.waiting, item.identifier, item.size), .recordingRefused,
        "more than \(mostWaiting) bytes would wait to be written")
    case .now: prepare(item)
    case .later: intake.async { [self] in prepareArrived() }
    }
  }

  private func drop(
    _ drop: RecordingStore.Drop, _ kind: SnapshotMode.Event.Kind, _ reason: String
  ) {
    store.drop(drop, kind, reason)
    queue.async { [store] in store.saveDropped() }
  }

  // MARK: - The first step

  /// Redacts everything that has arrived. From any thread.
  private func prepareArrived() {
    redacting.withLock { _ in
      let items = waiting.withLock { waiting in
        let items = waiting.arrived.takeAll()
        for item in items { waiting.inWork[item.key, default: 0] += 1 }
        return items
      }
      for item in items { prepare(item) }
    }
  }

  /// Redacts `item`, and appends it to the journal.
  private func prepare(_ item: RecordingStore.Item) {
    var ready = store.prepare(item)
    var failure: SystemError?
    if let record = ready?.record {
      // Without the journal, the data survives a crash only when its own file is written. A failure of that is reported.
      do { ready?.segment = try journal.append(record) } catch { failure = error }
    }
    if ready != nil { tell(failure, item.identifier) }
    let isFirst = waiting.withLock { waiting in
      let left = (waiting.inWork[item.key] ?? 1) - 1
      waiting.inWork[item.key] = left == 0 ? nil : left
      guard let ready else {
        finish(item.size, &waiting)
        return false
      }
      let isFirst = waiting.ready.isEmpty
      if let former = waiting.ready.add(ready, for: item.key, isReplacing: item.isReplacing) {
        finish(former.charge, &waiting)
        if let segment = former.segment { journal.settle(segment) }
      }
      return isFirst
    }
    if isFirst { queue.async { [self] in writeReady() } }
  }

  /// Reports the first of several failures of the journal, if the caller relies on it.
  private func tell(_ failure: SystemError?, _ identifier: String) {
    guard configuration.durability != .asynchronous else { return }
    let wasWritable = waiting.withLock { waiting in
      defer { waiting.isJournaled = failure == nil }
      return waiting.isJournaled
    }
    guard let failure, wasWritable else { return }
    configuration.onEvent(
      .init(
        .durabilityReduced, identifier: identifier,
        "it survives a crash only after `process` has returned: \(failure)"))
  }

  private func finish(_ bytes: Int, _ waiting: inout Waiting) {
    waiting.count -= 1
    waiting.bytes -= bytes
  }

  // MARK: - The second step

  /// Writes everything recorded before the call. Only on ``queue``.
  private func writeWaiting() {
    prepareArrived()
    writeReady()
  }

  private func writeReady() {
    let items = waiting.withLock { $0.ready.takeAll() }
    for item in items {
      store.write(item) { [journal] in
        if let segment = item.segment { journal.settle(segment) }
      }
      waiting.withLock { finish(item.charge, &$0) }
    }
    store.saveDropped()
  }

  /// Returns when everything recorded before the call is on the disk.
  func flush() async { await queue.run { [self] in writeWaiting() } }

  /// Blocks the calling thread until everything recorded before the call is on the disk.
  func flushSynchronously() { queue.sync { writeWaiting() } }

  // MARK: - Replaying

  /// Returns the next call of `identifier` in `session`. Writes waiting items first.
  func call(
    of identifier: String, in session: ReplaySession, _ afterLast: SnapshotMode.Policy.AfterLast
  ) throws(ReplayProblem) -> ReplayedCall {
    writeIfWaiting()
    return try store.call(of: identifier, in: session, afterLast)
  }

  /// When the oldest recording was made; `nil` if there is none. Writes waiting items first.
  var began: Date? {
    writeIfWaiting()
    return store.began
  }

  private func writeIfWaiting() {
    if waiting.withLock({ $0.count > 0 || !$0.isStarted }), !queue.isCurrent { queue.sync { writeWaiting() } }
  }

  /// All recorded identifiers, in no particular order. Empty if the recordings can't be read.
  var identifiers: [String] { store.identifiers }

  // MARK: - On the queue

  /// Returns all recordings made before the call. Only on ``queue``.
  func list() throws(SystemError) -> [Storage.Recording] {
    writeWaiting()
    return try store.list()
  }

  /// Creates hard links to the recordings and attachments of `run`, except the `excluded` ones, in a new folder, which
  /// later recordings don't change. Only on ``queue``.
  func freeze(
    _ run: SnapshotMode.Run, without excluded: Set<String>, into folder: String
  ) throws(SystemError) -> RecordingStore.Frozen {
    writeWaiting()
    return try store.freeze(run, without: excluded, into: folder)
  }

  /// What a snapshot of `run` would contain now. Only on ``queue``.
  func contents(of run: SnapshotMode.Run) throws(SystemError) -> [SnapshotMode.Content] {
    writeWaiting()
    return try store.contents(of: run)
  }

  /// The run before this one, if its recordings are kept. Only on ``queue``.
  var previousRun: SnapshotMode.PreviousRun? { store.previousRun }

  /// Removes what is kept of the run before this one. Only on ``queue``.
  func discardPreviousRun() throws(SystemError) { try store.discardPreviousRun() }

  /// Records whether this run would end in good order if it ended now. Only on ``queue``.
  func recordEnd(isInGoodOrder: Bool) {
    writeWaiting()
    store.recordEnd(isInGoodOrder: isInGoodOrder)
  }

  /// What was not recorded, and why. Only on ``queue``.
  var dropped: [Manifest.Dropped] { store.dropped }

  /// The names of the redaction rules that were applied to the recordings. Only on ``queue``.
  var redactions: [String] { store.redactions }

  /// Whether recording is paused until the disk has free space.
  var isPaused: Bool { store.isPaused }

  /// Removes everything recorded before the call. Only on ``queue``.
  func clear() throws(SystemError) {
    redacting.withLock { _ in
      waiting.withLock { waiting in
        for item in waiting.arrived.takeAll() { finish(item.size, &waiting) }
        for item in waiting.ready.takeAll() {
          finish(item.charge, &waiting)
          if let segment = item.segment { journal.settle(segment) }
        }
      }
    }
    try store.clear()
  }
}

/// Items in the order in which they came, of which a newer one can replace one of the same key.
private struct Pending<Item> {
  private var items: [Item] = []
  private var places: [RecordingStore.Key: Int] = [:]

  var isEmpty: Bool { items.isEmpty }

  func contains(_ key: RecordingStore.Key) -> Bool { places[key] != nil }

  /// The last item of a key.
  subscript(key: RecordingStore.Key) -> Item? { places[key].map { items[$0] } }

  /// Adds an item at the end, or replaces the last one of the same key.
  /// - Returns: the replaced item.
  @discardableResult
  mutating func add(_ item: Item, for key: RecordingStore.Key, isReplacing: Bool) -> Item? {
    if isReplacing, let place = places[key] {
      defer { items[place] = item }
      return items[place]
    }
    places[key] = items.count
    items.append(item)
    return nil
  }

  mutating func takeAll() -> [Item] {
    defer { self = Pending() }
    return items
  }
}
