import Foundation
import Redaction
import SnapshotFormat
import SystemIO

/// Knows which redaction rules were applied to the files, and applies new ones. ``recordApplied(for:)`` can be used from any
/// thread, everything else only on the recorder's queue.
final class AppliedRules: Sendable {
  private let storage: Storage
  private let redactor: Redactor
  private let onEvent: @Sendable (SnapshotMode.Event) -> Void
  private let known = Lock<AppliedRedactions?>(nil)

  init(_ storage: Storage, _ redactor: Redactor, onEvent: @escaping @Sendable (SnapshotMode.Event) -> Void) {
    self.storage = storage
    self.redactor = redactor
    self.onEvent = onEvent
  }

  /// The names of the rules that were applied to the recordings.
  var ran: [String] { known.withLock { restored(&$0).ran } }

  /// The names of the rules that were applied to the recordings in another folder.
  static func ran(in storage: Storage) -> [String] {
    do { return try AppliedRedactions.restored(from: storage).ran } catch { return [] }
  }

  /// Forgets the rules, because all files are removed.
  func forget() { known.withLock { $0 = nil } }

  /// Records the rules that apply to data with `identifier`. Called before the redacted data is written.
  func recordApplied(for identifier: String) throws {
    guard !redactor.rules.isEmpty else { return }
    let names = redactor.names(for: identifier)
    try known.withLock { known in
      var changed = restored(&known)
      changed.add(names, of: redactor.rules.map(\.name))
      guard changed != known else { return }
      try changed.save(in: storage)
      known = changed
    }
  }

  /// If they can't be read, every rule counts as new.
  private func restored(_ known: inout AppliedRedactions?) -> AppliedRedactions {
    if let known { return known }
    let applied: AppliedRedactions
    do { applied = try AppliedRedactions.restored(from: storage) } catch { applied = AppliedRedactions() }
    known = applied
    return applied
  }

  // MARK: - New rules

  /// Applies rules that are new since the last launch, or that find more than then, to the files in all `folders`. Removes
  /// recordings and attachments to which a rule can't be applied.
  /// - Returns: whether files may have changed.
  func applyNew(to folders: [Storage]) throws -> Bool {
    let configured = redactor.rules.map(\.name)
    let applied = known.withLock { restored(&$0) }
    let findsMore = applied.engine != Redactor.engine && !applied.configured.isEmpty
    guard configured != applied.configured || findsMore else { return false }
    let added = redactor.filtered {
      !Set(applied.configured).contains($0.name) || findsMore && $0.isRepeatable
    }
    var (ran, isEmpty): ([String], Bool) = ([], true)
    for folder in folders {
      let (recordings, attachments) = (try folder.list { _ in }, try folder.listAttachments())
      isEmpty = isEmpty && recordings.isEmpty && attachments.isEmpty
      guard !added.rules.isEmpty else { continue }
      for recording in recordings {
        ran += added.names(for: recording.identifier)
        try redact(recording, in: folder, with: added)
      }
      for attachment in attachments {
        ran += added.names(for: "attachments/" + attachment.name.text)
        try redact(attachment, in: folder, with: added)
      }
    }
    guard !isEmpty else { return false }
    var changed = applied
    changed.add(ran, of: configured)
    try changed.save(in: storage)
    known.withLock { $0 = changed }
    return true
  }

  private func redact(_ recording: Storage.Recording, in storage: Storage, with redactor: Redactor) throws {
    guard let data = try storage.read(recording.name) else { return }
    do {
      let left = try redactor.redact(data, as: recording.identifier)
      let identifier = redactor.redact(identifier: recording.identifier)
      let file = try storage.readExchange(recording.name)
      let exchange = try file.map { file in
        guard let exchange = StoredExchange(file: file) else { throw DamagedExchange() }
        return try redactor.redact(exchange, body: data, redacted: left, as: recording.identifier).file()
      }
      guard left != data || identifier != recording.identifier || exchange != file else { return }
      var name = RecordingName(identifier)
      if let call = recording.name.call { name = RecordingName(name, call: call) }
      _ = try storage.write(left, as: identifier, name, exchange: exchange, at: recording.recordedAt)
      if name != recording.name { try storage.remove(recording.name, isLast: true) }
    } catch let failure where failure is Redactor.Failure || failure is DamagedExchange {
      onEvent(.init(.redactionFailed, identifier: recording.identifier, "\(failure)"))
      try storage.remove(recording.name, isLast: false)
    }
  }

  private struct DamagedExchange: Error, CustomStringConvertible {
    let description = "the description of its exchange can't be read"
  }

  private func redact(_ attachment: Storage.Attachment, in storage: Storage, with redactor: Redactor) throws {
    let identifier = "attachments/" + attachment.name.text
    do {
      let file = try File(attachment.path)
      let time = Date(timeIntervalSince1970: Double(try file.modifiedAt) / 1000)
      let data = Data(try file.read(upTo: Int(file.size), at: 0))
      let left = try redactor.redact(data, as: identifier)
      if left != data { try storage.write(left, asAttachment: attachment.name, at: time) }
    } catch let failure as Redactor.Failure {
      onEvent(.init(.redactionFailed, identifier: identifier, "\(failure)"))
      try Folder.removeIfPresent(attachment.path)
    }
  }
}
