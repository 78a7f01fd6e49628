import Foundation
import SnapshotFormat
import Synchronization
import SystemIO

/// Stores recordings and attachments. Redacts them before writing and enforces the limits.
///
/// ``data(for:in:)`` and ``identifiers`` can be used from any thread, everything else only on the recorder's queue.
final class RecordingStore: Sendable {
  /// A recording or attachment to write.
  struct Item {
    enum Kind { case recording, attachment }

    struct Key: Hashable {
      let kind: Kind
      /// The identifier, or the attachment's name.
      let name: String
    }

    let key: Key
    let data: Data
    let time: Date

    /// The identifier used in redaction rules and events.
    var identifier: String { key.kind == .recording ? key.name : "attachments/" + key.name }
  }

  /// The contents of a new snapshot.
  struct Frozen {
    var sources: [SnapshotBundle.Source] = []
    var attachments: [SnapshotBundle.Attachment] = []
    var redactions: [String] = []
  }

  /// The reason why an item is not stored.
  private struct Refused: Error {
    let reason: String
  }

  /// The state while nothing is written because the disk is full.
  private struct Pause {
    /// The number of free bytes from which writing is tried again.
    var needed: Int64
    /// The number of items dropped since the pause began.
    var passedOver = 0
  }

  /// The state that only the recorder's queue changes.
  private struct Memory {
    var notes: RedactionNotes?
    var pause: Pause?
  }

  private let storage: Storage
  private let configuration: SnapshotMode.Configuration
  private let policies: Policies
  private let redactor: Redactor
  private let memory = Mutex(Memory())
  private let recorded = Mutex<RecordingIndex?>(nil)

  init(
    _ storage: Storage, _ configuration: SnapshotMode.Configuration, _ policies: Policies,
    _ redactor: Redactor
  ) {
    self.storage = storage
    self.configuration = configuration
    self.policies = policies
    self.redactor = redactor
  }

  /// Applies new redaction rules to existing files, then removes recordings that exceed the limits. Called once at
  /// launch.
  func start() {
    do {
      try redactAgain()
      try removeOutdated()
      try makeRoom(for: 0, as: nil)
    } catch {
      // A failure is reported when something is recorded or replayed.
    }
  }

  // MARK: - Writing

  /// Writes `item`, or reports as an event why it can't be written.
  func write(_ item: Item) {
    guard !isPassedOver(item) else { return }
    do {
      try store(item)
      resume()
    } catch let failure as Redactor.Failure {
      tell(.redactionFailed, item.identifier, "\(failure)")
    } catch let refused as Refused {
      tell(.recordingRefused, item.identifier, refused.reason)
    } catch let error as SystemError where error.isOutOfSpace {
      pause(item, error)
    } catch {
      tell(.recordingFailed, item.identifier, "\(error)")
    }
  }

  private func store(_ item: Item) throws {
    let data = try redactor.redact(item.data, as: item.identifier)
    guard data.count <= configuration.limits.totalBytes else {
      throw Refused(reason: "it has \(data.count) bytes after redaction, more than the limit in total")
    }
    try note(redactor.names(for: item.identifier))
    switch item.key.kind {
    case .recording: try store(data, item)
    case .attachment: try attach(data, item)
    }
  }

  private func store(_ data: Data, _ item: Item) throws {
    let identifier = redactor.redact(identifier: item.identifier)
    guard identifier.utf8.count <= Manifest.Limits.default.identifierLength else {
      throw Refused(reason: "the identifier is too long after redaction")
    }
    let stem = RecordingName(identifier)
    let retention = policies[item.identifier].retention
    let name = try retention == .latest ? stem : withIndex { $0.nextCall(of: stem) }
    try makeRoom(for: Int64(data.count), as: name)
    if try storage.write(data, as: identifier, name, at: item.time) { forgetIndex() }
    let recording = Storage.Recording(
      identifier: identifier, name: name, size: Int64(data.count), recordedAt: item.time)
    let calls = try withIndex { recorded in
      recorded.put(recording)
      return recorded.calls(of: name)
    }
    switch retention {
    case .latest:
      for call in calls where call != name { try remove(call) }
    case .history(let limit):
      for call in calls.dropLast(max(limit, 1)) { try remove(call) }
    }
  }

  private func attach(_ data: Data, _ item: Item) throws {
    let names = try storage.listAttachments()
    guard
      names.count < configuration.limits.attachments
        || names.contains(where: { $0.lowercased() == item.key.name.lowercased() })
    else { throw Refused(reason: "there are \(names.count) attachments already") }
    try storage.write(data, asAttachment: item.key.name, at: item.time)
  }

  private func remove(_ name: RecordingName) throws(SystemError) {
    let isLast = try withIndex { recorded in
      recorded.remove(name)
      return recorded.calls(of: name).isEmpty
    }
    try storage.remove(name, isLast: isLast)
  }

  // MARK: - Reading

  /// Returns the bytes of the next call of `identifier` in `session`.
  func data(for identifier: String, in session: ReplaySession) throws(ReplayProblem) -> Data {
    let name = RecordingName(redactor.redact(identifier: identifier))
    do {
      let calls = try withIndex { $0.calls(of: name) }
      if !calls.isEmpty, let data = try storage.read(calls[session.next(identifier, of: calls.count)]) {
        return data
      }
    } catch {
      throw .unreadable("\(error)")
    }
    throw .missing
  }

  /// All recorded identifiers, in no particular order. Empty if the recordings can't be read.
  var identifiers: [String] {
    do { return try withIndex { $0.identifiers } } catch { return [] }
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

  /// Creates hard links to all recordings and attachments in a new folder, which later recordings don't change.
  func freeze(into folder: String) throws(SystemError) -> Frozen {
    try Folder.create(folder + "/recordings")
    try Folder.create(folder + "/attachments")
    var frozen = Frozen()
    for recording in try list() {
      let path = folder + "/recordings/\(recording.name)"
      try Folder.link(storage.recordings + "/\(recording.name)", as: path)
      frozen.sources.append(
        .init(
          identifier: recording.identifier, file: URL(filePath: path), recordedAt: recording.recordedAt,
          call: recording.name.call))
    }
    for name in try storage.listAttachments() {
      let path = folder + "/attachments/" + name
      try Folder.link(storage.attachments + "/" + name, as: path)
      frozen.attachments.append(.init(name: name, file: URL(filePath: path)))
    }
    frozen.redactions = notes.ran
    return frozen
  }

  /// Removes all recordings and attachments.
  func clear() throws(SystemError) {
    defer { forgetIndex() }
    memory.withLock { $0.notes = nil }
    try storage.removeRecordings()
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

  /// Removes the oldest recordings until one of `size` bytes fits within the limits. The new recording replaces the one
  /// called `name`, if there is one.
  private func makeRoom(for size: Int64, as name: RecordingName?) throws(SystemError) {
    try removeOutdated()
    let limits = configuration.limits
    let added = name == nil ? 0 : 1
    try removeOldest("the limit of all recordings was reached") { recorded in
      let replaced = name.map { recorded.size(of: $0) } ?? 0
      let isReplacing = name.map { recorded.calls(of: $0).contains($0) } ?? false
      return recorded.bytes - replaced + size > limits.totalBytes
        || recorded.count + (isReplacing ? 0 : added) > max(limits.recordings, 1)
    }
  }

  /// Removes the recordings that exceed the maximum age.
  private func removeOutdated() throws(SystemError) {
    let earliest = configuration.clock().addingTimeInterval(-configuration.limits.age)
    try removeOldest("they were too old") { recorded in
      recorded.oldest.map { $0.recordedAt < earliest } ?? false
    }
  }

  private func removeOldest(
    _ reason: String, while isTooMuch: (inout RecordingIndex) -> Bool
  ) throws(SystemError) {
    var count = 0
    defer {
      if count > 0 { tell(.recordingsRemoved, "the \(count) oldest recordings were removed: \(reason)") }
    }
    while let oldest = try withIndex({ isTooMuch(&$0) ? $0.oldest : nil }) {
      try remove(oldest.name)
      count += 1
    }
  }

  // MARK: - A full disk

  /// Whether recording is paused until the disk has free space.
  var isPaused: Bool { memory.withLock { $0.pause != nil } }

  /// Whether `item` is dropped because the disk is still full.
  private func isPassedOver(_ item: Item) -> Bool {
    guard let needed = memory.withLock({ $0.pause?.needed }) else { return false }
    do {
      guard try Folder.availableBytes(storage.folder) < needed else { return false }
    } catch {
      return false
    }
    memory.withLock { $0.pause?.passedOver += 1 }
    return true
  }

  /// Stops writing. Sends an event only when the pause begins.
  private func pause(_ item: Item, _ error: SystemError) {
    // The size of the failed item, so that small items that still fit don't end the pause, and the next large one
    // begins it again.
    let needed = Int64(item.data.count) + 64 << 10
    let isNew = memory.withLock { memory in
      let former = memory.pause
      memory.pause = Pause(
        needed: max(needed, former?.needed ?? 0), passedOver: (former?.passedOver ?? 0) + 1)
      return former == nil
    }
    if isNew {
      tell(.recordingPaused, item.identifier, "nothing is recorded until the disk has free space: \(error)")
    }
  }

  /// Ends the pause after a successful write.
  private func resume() {
    let pause = memory.withLock { memory in memory.pause.take() }
    if let pause {
      tell(.recordingResumed, "the disk has free space again; \(pause.passedOver) were not kept meanwhile")
    }
  }

  // MARK: - Applied rules

  /// The names of the redaction rules that were applied to the recordings.
  var redactions: [String] { notes.ran }

  /// The notes. If they can't be read, every rule counts as new.
  private var notes: RedactionNotes {
    if let notes = memory.withLock({ $0.notes }) { return notes }
    let notes: RedactionNotes
    do { notes = try RedactionNotes.restored(from: storage) } catch { notes = RedactionNotes() }
    memory.withLock { $0.notes = notes }
    return notes
  }

  /// Notes that the rules called `names` are applied. Called before the redacted data is written.
  private func note(_ names: [String]) throws {
    guard !redactor.rules.isEmpty else { return }
    var changed = notes
    changed.note(names, of: redactor.rules.map(\.name))
    guard changed != notes else { return }
    try changed.save(in: storage)
    memory.withLock { $0.notes = changed }
  }

  /// Applies rules that are new since the last launch to existing files. Removes recordings and attachments to which a
  /// rule can't be applied.
  private func redactAgain() throws {
    let configured = redactor.rules.map(\.name)
    guard configured != notes.configured else { return }
    let recordings = try storage.list { _ in }
    let attachments = try storage.listAttachments()
    guard !recordings.isEmpty || !attachments.isEmpty else { return }
    let known = Set(notes.configured)
    let added = Redactor(rules: redactor.rules.filter { !known.contains($0.name) })
    var ran: [String] = []
    for recording in recordings where !added.rules.isEmpty {
      ran += added.names(for: recording.identifier)
      try redact(recording, with: added)
    }
    for name in attachments where !added.rules.isEmpty {
      ran += added.names(for: "attachments/" + name)
      try redact(attachment: name, with: added)
    }
    var changed = notes
    changed.note(ran, of: configured)
    try changed.save(in: storage)
    memory.withLock { $0.notes = changed }
    forgetIndex()
  }

  private func redact(_ recording: Storage.Recording, with redactor: Redactor) throws {
    guard let data = try storage.read(recording.name) else { return }
    do {
      let left = try redactor.redact(data, as: recording.identifier)
      let identifier = redactor.redact(identifier: recording.identifier)
      guard left != data || identifier != recording.identifier else { return }
      var name = RecordingName(identifier)
      if let call = recording.name.call { name = RecordingName(name, call: call) }
      _ = try storage.write(left, as: identifier, name, at: recording.recordedAt)
      if name != recording.name { try storage.remove(recording.name, isLast: true) }
    } catch let failure as Redactor.Failure {
      tell(.redactionFailed, recording.identifier, "\(failure)")
      try storage.remove(recording.name, isLast: false)
    }
  }

  private func redact(attachment name: String, with redactor: Redactor) throws {
    let path = storage.attachments + "/" + name
    do {
      let file = try File(path)
      let data = Data(try file.read(upTo: Int(file.size), at: 0))
      let left = try redactor.redact(data, as: "attachments/" + name)
      if left != data { try storage.write(left, asAttachment: name, at: configuration.clock()) }
    } catch let failure as Redactor.Failure {
      tell(.redactionFailed, "attachments/" + name, "\(failure)")
      try Folder.removeIfPresent(path)
    }
  }

  private func tell(_ kind: SnapshotMode.Event.Kind, _ identifier: String, _ reason: String) {
    configuration.onEvent(.init(kind, identifier: identifier, reason))
  }

  private func tell(_ kind: SnapshotMode.Event.Kind, _ reason: String) {
    configuration.onEvent(.init(kind, reason))
  }
}
