import Foundation
import SnapshotFormat

/// The contents of the object that belongs to a UUID: a record, or a tombstone.
struct StoredState: Sendable, Hashable {
  /// Names one write of the object, so that a writer without an answer recognizes its own.
  typealias ChangeID = SnapshotID

  /// What belongs to the UUID.
  enum Content: Sendable, Hashable {
    /// A bundle, made by ``published(_:by:)``. `attempt` names the object with its bytes, and the record names it too. The
    /// bundle is out of use if its record is marked as damaged.
    case published(SnapshotRecord, attempt: SnapshotID)
    /// The bundle was deleted. The UUID is never used again.
    case deleted

    /// The record of the bundle; `nil` if it was deleted.
    var record: SnapshotRecord? {
      if case .published(let record, _) = self { record } else { nil }
    }

    /// The bundle with `record`, whose bytes are those of `attempt`.
    static func published(_ record: SnapshotRecord, by attempt: SnapshotID) -> Content {
      var record = record
      record.attempt = attempt
      return .published(record, attempt: attempt)
    }
  }

  let content: Content
  /// The latest writes, newest first.
  let changes: [ChangeID]

  /// How many writes are remembered: more than can follow one whose answer is lost before its writer reads again.
  static let rememberedChanges = 16
  /// The maximum length of a tombstone in bytes. Records are longer, so that a list, which has lengths, tells them apart.
  static let tombstoneLength = 64

  /// The contents that the write `change` makes of an object with the contents `former`.
  init(_ content: Content, by change: ChangeID, after former: StoredState? = nil) {
    self.init(
      content: content, changes: Array(([change] + (former?.changes ?? [])).prefix(Self.rememberedChanges)))
  }

  private init(content: Content, changes: [ChangeID]) {
    self.content = content
    self.changes = changes
  }
}

extension StoredState {
  /// The form in JSON. Of a deleted bundle nothing is kept, not even when it was deleted.
  private struct Document: Codable {
    var changes: [ChangeID]?
    var attempt: SnapshotID?
    var record: SnapshotRecord?
    var deleted: ChangeID?
  }

  /// Reads the contents of an object; `nil` if they are damaged, or belong to another UUID than `id`.
  init?(_ bytes: Data, of id: SnapshotID) {
    let document: Document
    do { document = try SnapshotJSON.decode(Document.self, from: bytes) } catch { return nil }
    if let deleted = document.deleted {
      self.init(content: .deleted, changes: [deleted])
    } else if let record = document.record, record.id == id, let attempt = document.attempt {
      self.init(content: .published(record, by: attempt), changes: document.changes ?? [])
    } else {
      return nil
    }
  }

  /// The contents of the object.
  func encoded() throws -> Data {
    switch content {
    case .published(let record, let attempt):
      try SnapshotJSON.encode(Document(changes: changes, attempt: attempt, record: record))
    case .deleted: try SnapshotJSON.encode(Document(deleted: changes.first))
    }
  }
}
