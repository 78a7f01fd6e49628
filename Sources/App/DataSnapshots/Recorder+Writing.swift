import Foundation
import SnapshotFormat
import Synchronization
import SystemIO

// All of this is done on the recorder's queue.
extension Recorder {
  /// What keeps an item from being stored for good.
  private struct Refused: Error {
    let reason: String
  }

  /// Writes `item`, or says why not.
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
      throw Refused(reason: "it has \(data.count) bytes after redaction, more than are kept in all")
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

  func remove(_ name: RecordingName) throws(SystemError) {
    let isLast = try withIndex { recorded in
      recorded.remove(name)
      return recorded.calls(of: name).isEmpty
    }
    try storage.remove(name, isLast: isLast)
  }

  // MARK: - What is there

  /// Everything that was recorded before the call.
  func list() throws(SystemError) -> [Storage.Recording] {
    writeWaiting()
    try removeOutdated()
    let found = try storage.list { name in
      tell(.leftover, "recordings/\(name) is no recording; it is passed over")
    }
    // Somebody else may have changed the folder.
    if try withIndex({ !$0.holds(found) }) { forgetIndex() }
    return found
  }

  /// Gives everything that was recorded or attached before the call a second name in a new folder, so that it stays as
  /// it is whatever is recorded later.
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

  /// What a snapshot is made of.
  struct Frozen {
    var sources: [SnapshotBundle.Source] = []
    var attachments: [SnapshotBundle.Attachment] = []
    var redactions: [String] = []
  }

  // MARK: - Which rules ran

  /// The notes; where they can't be read, as if no rule had ever run.
  var notes: RedactionNotes {
    if let notes = memory.withLock({ $0.notes }) { return notes }
    let notes: RedactionNotes
    do { notes = try RedactionNotes.restored(from: storage) } catch { notes = RedactionNotes() }
    memory.withLock { $0.notes = notes }
    return notes
  }

  /// Notes that the rules with these names run, before what they leave is written.
  private func note(_ names: [String]) throws {
    guard !redactor.rules.isEmpty else { return }
    var changed = notes
    changed.note(names, of: redactor.rules.map(\.name))
    guard changed != notes else { return }
    try changed.save(in: storage)
    memory.withLock { $0.notes = changed }
  }

  /// At launch: runs rules that are new over what is there. What they can't be applied to is removed.
  func redactAgain() throws {
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
}
