import Foundation
import SnapshotFormat
import Synchronization
import SystemIO

/// Takes data at once and writes it by and by, on one queue.
final class Recorder: Sendable {
  /// What is to be written.
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

    /// As which rules and events know it.
    var identifier: String { key.kind == .recording ? key.name : "attachments/" + key.name }
  }

  /// What is not on the disk yet.
  private struct Waiting {
    var items: [Item] = []
    /// Where the items are whose place the next of the same key takes.
    var latest: [Item.Key: Int] = [:]
    /// With those that are being written just now.
    var count = 0
    /// With those that are being written just now.
    var bytes = 0
    var isScheduled = false
  }

  /// What the queue remembers, and nobody else touches.
  struct Memory {
    var notes: RedactionNotes?
    var pause: Pause?
  }

  /// Where all writing is done.
  let queue = WorkQueue("recorder")
  let storage: Storage
  let configuration: SnapshotMode.Configuration
  let policies: Policies
  let redactor: Redactor
  let memory = Mutex(Memory())
  private let waiting = Mutex(Waiting())
  private let recorded = Mutex<RecordingIndex?>(nil)

  init(storage: Storage, configuration: SnapshotMode.Configuration) {
    self.storage = storage
    self.configuration = configuration
    policies = Policies(configuration)
    redactor = Redactor(rules: configuration.redaction)
  }

  /// Keeps `data` under `identifier`: as the latest, or as the next call.
  func record(_ data: Data, as identifier: String) {
    let longest = Manifest.Limits.default.identifierLength
    guard identifier.utf8.count <= longest else {
      return refuse(identifier, "the identifier has \(identifier.utf8.count) bytes, the most are \(longest)")
    }
    let item = Item(
      key: Item.Key(kind: .recording, name: identifier), data: data, time: configuration.clock())
    take(item, replacing: policies[identifier].retention == .latest)
  }

  /// Keeps `data` as the attachment `name`.
  func attach(_ data: Data, as name: String) {
    let key = Item.Key(kind: .attachment, name: name)
    take(Item(key: key, data: data, time: configuration.clock()), replacing: true)
  }

  private func take(_ item: Item, replacing isReplacing: Bool) {
    let most = min(Int64(configuration.limits.recordingBytes), configuration.limits.totalBytes)
    guard item.data.count <= most else {
      return refuse(item.identifier, "it has \(item.data.count) bytes, the most are \(most)")
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
      return refuse(item.identifier, "more than \(mostWaiting) bytes would be waiting for the disk")
    }
    if isFirst { queue.async { [self] in writeWaiting() } }
  }

  private func refuse(_ identifier: String, _ reason: String) { tell(.recordingRefused, identifier, reason) }

  func tell(_ kind: SnapshotMode.Event.Kind, _ identifier: String, _ reason: String) {
    configuration.onEvent(.init(kind, identifier: identifier, reason))
  }

  func tell(_ kind: SnapshotMode.Event.Kind, _ reason: String) { configuration.onEvent(.init(kind, reason)) }

  // MARK: - Replaying

  /// The bytes of the call under `identifier` that is next in `session`. What was recorded before is written first.
  func data(for identifier: String, in session: ReplaySession) throws(ReplayProblem) -> Data {
    if waiting.withLock({ $0.count > 0 }), !queue.isCurrent { queue.sync { writeWaiting() } }
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

  /// Every recorded identifier, in no order; none where that can't be read.
  var identifiers: [String] {
    do { return try withIndex { $0.identifiers } } catch { return [] }
  }

  /// Looks at what is recorded, or changes what is known of it; reads the folder the first time.
  func withIndex<Value>(_ body: (inout RecordingIndex) -> Value) throws(SystemError) -> Value {
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

  /// What is recorded is another thing than was known.
  func forgetIndex() { recorded.withLock { $0 = nil } }

  // MARK: - On the queue

  /// Writes what waits. On ``queue`` only.
  func writeWaiting() {
    let items = waiting.withLock { waiting in
      defer {
        waiting.items = []
        waiting.latest = [:]
        waiting.isScheduled = false
      }
      return waiting.items
    }
    for item in items { write(item) }
    waiting.withLock { waiting in
      waiting.count -= items.count
      waiting.bytes -= items.reduce(0) { $0 + $1.data.count }
    }
  }

  /// Forgets everything that was recorded before the call. On ``queue`` only.
  func clear() throws(SystemError) {
    waiting.withLock { waiting in
      waiting.count -= waiting.items.count
      waiting.bytes -= waiting.items.reduce(0) { $0 + $1.data.count }
      waiting.items = []
      waiting.latest = [:]
    }
    defer { forgetIndex() }
    memory.withLock { $0.notes = nil }
    try storage.removeRecordings()
  }
}
