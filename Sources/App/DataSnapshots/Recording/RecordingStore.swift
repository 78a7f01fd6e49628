import Foundation
import Redaction
import SnapshotFormat
import SystemIO

/// Stores recordings and attachments. Redacts them before writing and enforces the limits.
///
/// ``prepare(_:)``, ``drop(_:_:_:)``, ``call(of:in:)`` and ``identifiers`` can be used from any thread, everything else
/// only on the recorder's queue.
final class RecordingStore: Sendable {
  private struct Refused: Error {
    let why: Manifest.Dropped.Reason
    let reason: String
  }

  private let storage: Storage
  private let configuration: SnapshotMode.Configuration
  private let redactor: Redactor
  private let rules: AppliedRules
  private let drops: DroppedTable
  private let runs: RunFolder
  private let pause: DiskPause
  private let clock: RecordingClock
  private let recorded = Lock<RecordingIndex?>(nil)

  init(_ storage: Storage, _ configuration: SnapshotMode.Configuration, _ redactor: Redactor) {
    self.storage = storage
    self.configuration = configuration
    self.redactor = redactor
    rules = AppliedRules(storage, redactor, onEvent: configuration.onEvent)
    drops = DroppedTable(storage)
    runs = RunFolder(storage)
    pause = DiskPause(storage.folder)
    clock = RecordingClock(storage)
  }

  /// Stores what the last run left in `journal`, applies new redaction rules to existing files, sets the recordings of
  /// the last run aside, then removes those that exceed the limits. Called once at launch.
  func start(_ journal: RecordingJournal) {
    do {
      var hasRecovered = false
      try journal.recover { record in
        hasRecovered = true
        recover(record)
      }
      if try rules.applyNew(to: [storage, runs.previousStorage]) { forgetIndex() }
      try runs.setAside(storage.list { _ in }, hasRecovered: hasRecovered)
      try removeOutdated()
      try makeRoom(for: 0, as: nil)
    } catch {
      // A failure is reported when something is recorded or replayed.
    }
  }

  // MARK: - Preparing

  /// Redacts `item`.
  /// - Returns: `nil` if it can't be stored, which was reported.
  func prepare(_ item: Item) -> Ready? {
    if pause.passesOver() {
      count(Drop(.diskFull, item.identifier, item.size))
      return nil
    }
    do {
      let data = try redactor.redact(item.data, as: item.identifier)
      let exchange = try item.exchange.map {
        try redactor.redact($0, body: item.data, redacted: data, as: item.identifier).file()
      }
      guard data.count + (exchange?.count ?? 0) <= configuration.limits.totalBytes else {
        throw Refused(
          why: .tooLarge,
          reason: "it has \(data.count) bytes after redaction, more than the limit in total")
      }
      let name = item.key.kind == .attachment ? item.key.name : redactor.redact(identifier: item.key.name)
      guard name.utf8.count <= Manifest.Limits.default.identifierLength else {
        throw Refused(why: .identifierTooLong, reason: "the identifier is too long after redaction")
      }
      try rules.recordApplied(for: item.identifier)
      let record = JournalRecord(
        kind: item.key.kind, name: name, retention: item.retention, time: item.time, data: data,
        exchange: exchange)
      return Ready(record: record, identifier: item.identifier, charge: item.size)
    } catch {
      report(error, item.identifier, item.size)
      return nil
    }
  }

  /// Counts and reports that something is not stored.
  func drop(_ drop: Drop, _ kind: SnapshotMode.Event.Kind, _ reason: String) {
    count(drop)
    tell(kind, drop.identifier, reason)
  }

  private func count(_ drop: Drop) {
    drops.add(drop.reason, redactor.redact(identifier: drop.identifier), drop.bytes)
  }

  private func report(_ error: any Error, _ identifier: String, _ bytes: Int) {
    switch error {
    case let failure as Redactor.Failure:
      // The digest of the body of an exchange is that of the secrets in it too.
      let named = ExchangeIdentifier(identifier)?.withoutBody.description ?? identifier
      drop(Drop(failure.reason, named, bytes), .redactionFailed, "\(failure)")
    case let refused as Refused:
      drop(Drop(refused.why, identifier, bytes), .recordingRefused, refused.reason)
    case let error as SystemError where error.isOutOfSpace:
      count(Drop(.diskFull, identifier, bytes))
      if pause.begin(needing: bytes) {
        tell(.recordingPaused, identifier, "nothing is recorded until the disk has free space: \(error)")
      }
    default:
      drop(Drop(.unwritable, identifier, bytes), .recordingFailed, "\(error)")
    }
  }

  // MARK: - Writing

  /// Writes `ready`, or reports as an event why it can't be written. Calls `settle` when the journal is no longer
  /// needed.
  func write(_ ready: Ready, settle: () -> Void) {
    var isSettled = false
    func settleOnce() {
      if !isSettled { settle() }
      isSettled = true
    }
    defer { settleOnce() }
    do {
      do {
        try store(ready.record)
      } catch let error as SystemError where error.isOutOfSpace && ready.segment != nil {
        // The journal may use the space that the file needs.
        settleOnce()
        try store(ready.record)
      }
      if let count = pause.end() {
        tell(.recordingResumed, "the disk has free space again; \(count) were not kept meanwhile")
      }
      if !ready.record.retention.keepsHistory { drops.remove(ready.record.identifier) }
    } catch {
      report(error, ready.identifier, ready.charge)
    }
  }

  private func store(_ record: JournalRecord) throws {
    try runs.begin(at: record.time)
    switch record.kind {
    case .recording, .exchange: try storeRecording(record)
    case .attachment: try storeAttachment(record)
    }
  }

  private func storeRecording(_ record: JournalRecord) throws {
    let stem = RecordingName(record.name)
    let name = try record.retention.keepsHistory ? withIndex { $0.nextCall(of: stem) } : stem
    let size = Int64(record.data.count + (record.exchange?.count ?? 0))
    try makeRoom(for: size, as: name)
    if try storage.write(record.data, as: record.name, name, exchange: record.exchange, at: record.time) {
      forgetIndex()
    }
    runs.release(name)
    let recording = Storage.Recording(
      identifier: record.name, name: name, size: size, recordedAt: record.time)
    let calls = try withIndex { recorded in
      recorded.put(recording)
      return recorded.calls(of: name)
    }
    switch record.retention {
    case .latest:
      for call in calls where call != name { try remove(call) }
    case .history(let limit):
      for call in calls.dropLast(max(limit, 1)) { try remove(call) }
    }
  }

  private func storeAttachment(_ record: JournalRecord) throws {
    guard let name = AttachmentName(record.name) else {
      throw Refused(why: .unwritable, reason: "this is not a valid name of an attachment")
    }
    let attachments = try storage.listAttachments()
    guard
      attachments.count < configuration.limits.attachments || attachments.contains(where: { $0.name == name })
    else { throw Refused(why: .limit, reason: "there are \(attachments.count) attachments already") }
    try storage.write(record.data, asAttachment: name, at: record.time)
  }

  private func remove(_ name: RecordingName) throws(SystemError) {
    let isLast = try withIndex { recorded in
      recorded.remove(name)
      return recorded.calls(of: name).isEmpty
    }
    try storage.remove(name, isLast: isLast)
    runs.release(name)
  }

  /// Stores a record of the last run, unless it had been stored when the run ended.
  private func recover(_ record: JournalRecord) {
    do {
      let stem = RecordingName(record.name)
      let milliseconds = (record.time.timeIntervalSince1970 * 1000).rounded()
      let isStored =
        try record.kind != .attachment
        && storage.list { _ in }.contains { recording in
          guard recording.name.stem == stem.stem else { return false }
          let time = (recording.recordedAt.timeIntervalSince1970 * 1000).rounded()
          // Within a millisecond, the order in the journal decides.
          if !record.retention.keepsHistory { return time > milliseconds }
          return try time == milliseconds && storage.read(recording.name) == record.data
            && storage.readExchange(recording.name) == record.exchange
        }
      if !isStored { try store(record) }
    } catch {
      report(error, record.identifier, record.data.count)
    }
  }

  /// Saves what was dropped, if it has changed.
  func saveDropped() { drops.save() }

  /// What was not recorded, and why.
  var dropped: [Manifest.Dropped] { drops.all }

  // MARK: - Runs

  /// The run before this one, if its recordings are kept.
  var previousRun: SnapshotMode.PreviousRun? { runs.previous }

  /// Removes what is kept of the run before this one.
  func discardPreviousRun() throws(SystemError) { try runs.discard() }

  /// Records whether this run would end in good order if it ended now.
  func recordEnd(isInGoodOrder: Bool) {
    do {
      try runs.recordEnd(at: isInGoodOrder ? configuration.clock() : nil)
    } catch {
      tell(.stateNotSaved, "\(error)")
    }
  }

  // MARK: - Reading

  /// Returns the next call of `identifier` in `session`.
  func call(
    of identifier: String, in session: ReplaySession, _ afterLast: SnapshotMode.Policy.AfterLast
  ) throws(ReplayProblem) -> ReplayedCall {
    let name = RecordingName(redactor.redact(identifier: identifier))
    do {
      let (calls, times) = try withIndex { index in
        let calls = index.calls(of: name)
        return (calls, calls.map(index.recordedAt))
      }
      if !calls.isEmpty {
        let number = try session.next(
          identifier, of: calls.count, isHistory: calls.last?.call != nil, afterLast)
        let call = calls[number]
        if let data = try storage.read(call) {
          let exchange = try storage.readExchange(call).flatMap { StoredExchange(file: $0) }
          return ReplayedCall(
            data: data, exchange: exchange?.description, time: times[number] ?? .distantPast)
        }
      }
    } catch let problem as ReplayProblem {
      throw problem
    } catch {
      throw .unreadable("\(error)")
    }
    throw .missing
  }

  /// All recorded identifiers, in no particular order. Empty if the recordings can't be read.
  var identifiers: [String] {
    do { return try withIndex { $0.identifiers } } catch { return [] }
  }

  /// When the oldest recording was made; `nil` if there is none, or they can't be read.
  var began: Date? {
    do { return try withIndex { $0.oldest?.recordedAt } } catch { return nil }
  }

  /// Returns all recordings, read from the folder.
  func list() throws(SystemError) -> [Storage.Recording] {
    try removeOutdated()
    let found = try storage.list { name in
      tell(.leftover, "recordings/\(name) is not a recording; it is ignored")
    }
    // Another process may have changed the folder.
    if try withIndex({ !$0.holds(found) }) { forgetIndex() }
    return found
  }

  private func recordings(of run: SnapshotMode.Run) throws(SystemError) -> [Storage.Recording] {
    try run == .current ? list() : runs.previousStorage.list { _ in }
  }

  /// What a snapshot of `run` would contain now.
  func contents(of run: SnapshotMode.Run) throws(SystemError) -> [SnapshotMode.Content] {
    let source = run == .current ? storage : runs.previousStorage
    return try SnapshotMode.Content.list(recordings(of: run), source.listAttachments())
  }

  /// Creates hard links to the recordings and attachments of `run`, except the `excluded` ones, in a new folder, which
  /// later recordings don't change.
  func freeze(
    _ run: SnapshotMode.Run, without excluded: Set<String>, into folder: String
  ) throws(SystemError) -> Frozen {
    try Folder.create(folder + "/recordings")
    try Folder.create(folder + "/attachments")
    try Folder.create(folder + "/requests")
    let source = run == .current ? storage : runs.previousStorage
    var frozen = Frozen()
    for recording in try recordings(of: run) where !excluded.contains(recording.identifier) {
      try frozen.add(recording, in: source, folder)
    }
    for attachment in try source.listAttachments()
    where !excluded.contains("attachments/" + attachment.name.text) {
      let path = folder + "/attachments/" + attachment.name.file
      try Folder.link(attachment.path, as: path)
      frozen.attachments.append(.init(name: attachment.name.text, file: URL(filePath: path)))
    }
    frozen.redactions = run == .current ? rules.ran : AppliedRules.ran(in: source)
    frozen.dropped = run == .current ? drops.all : DroppedTable.load(source)
    if !excluded.isEmpty {
      frozen.dropped += DroppedTable.withheld(try contents(of: run).filter { excluded.contains($0.id) })
    }
    frozen.limitDescriptions()
    return frozen
  }

  /// Removes all recordings and attachments, also those of the previous run.
  func clear() throws(SystemError) {
    defer { forgetIndex() }
    rules.forget()
    clock.forget()
    try storage.removeRecordings()
    try drops.clear()
    try runs.discard()
  }

  /// Calls `body` with the index, which it can change. Reads the folder first if there is no index.
  private func withIndex<Value>(_ body: (inout RecordingIndex) -> Value) throws(SystemError) -> Value {
    try recorded.withLock { recorded throws(SystemError) in
      var loaded: RecordingIndex
      if let known = recorded.take() {
        loaded = known
      } else {
        loaded = RecordingIndex(try storage.list { _ in })
      }
      defer { recorded = loaded }
      return body(&loaded)
    }
  }

  /// Discards the index, so that the folder is read again.
  private func forgetIndex() { recorded.withLock { $0 = nil } }

  // MARK: - Limits

  /// Removes the oldest recordings, also of the previous run, until one of `size` bytes fits within the limits. The new
  /// recording replaces the one called `name`, if there is one.
  private func makeRoom(for size: Int64, as name: RecordingName?) throws(SystemError) {
    try removeOutdated()
    let limits = configuration.limits
    let added = name == nil ? 0 : 1
    try removeOldest(.limit, "the limit of all recordings was reached") { recorded in
      let replaced = name.map { runs.isShared($0) ? 0 : recorded.size(of: $0) } ?? 0
      let isReplacing = name.map { recorded.calls(of: $0).contains($0) } ?? false
      if recorded.count + (isReplacing ? 0 : added) > max(limits.recordings, 1) { return .ofThisRun }
      return recorded.bytes - replaced + size + runs.heldBytes > limits.totalBytes ? .ofAnyRun : nil
    }
  }

  /// Removes the recordings that exceed the maximum age, also of the previous run, unless the clock may be wrong.
  private func removeOutdated() throws(SystemError) {
    let now = configuration.clock()
    let earliest = now.addingTimeInterval(-configuration.limits.age)
    let (oldest, newest) = try withIndex { ($0.oldest?.recordedAt, $0.newest) }
    guard let newest, let oldest = [oldest, runs.oldestHeld].compactMap(\.self).min(),
      try clock.permitsRemoval(at: now, isNeeded: oldest < earliest, newest: newest)
    else { return }
    try removeOldest(.age, "they were too old") { recorded in
      if let held = runs.oldestHeld, held < earliest { return .ofAnyRun }
      return recorded.oldest.map { $0.recordedAt < earliest } ?? false ? .ofThisRun : nil
    }
  }

  private enum Excess { case ofThisRun, ofAnyRun }

  private func removeOldest(
    _ why: Manifest.Dropped.Reason, _ reason: String, while excess: (inout RecordingIndex) -> Excess?
  ) throws(SystemError) {
    var count = 0
    defer {
      if count > 0 { tell(.recordingsRemoved, "the \(count) oldest recordings were removed: \(reason)") }
    }
    while let (excess, oldest) = try withIndex({ recorded in excess(&recorded).map { ($0, recorded.oldest) } }
    ) {
      if excess == .ofAnyRun, let held = runs.oldestHeld, oldest.map({ held <= $0.recordedAt }) ?? true {
        try runs.removeOldestHeld()
      } else if let oldest {
        try remove(oldest.name)
        drops.add(why, oldest.identifier, oldest.size)
      } else {
        return
      }
      count += 1
    }
  }

  /// Whether recording is paused until the disk has free space.
  var isPaused: Bool { pause.isActive }

  /// The names of the redaction rules that were applied to the recordings.
  var redactions: [String] { rules.ran }

  private func tell(_ kind: SnapshotMode.Event.Kind, _ identifier: String, _ reason: String) {
    configuration.onEvent(.init(kind, identifier: identifier, reason))
  }

  private func tell(_ kind: SnapshotMode.Event.Kind, _ reason: String) {
    configuration.onEvent(.init(kind, reason))
  }
}
