import Foundation
import SnapshotFormat

extension RecordingStore {
  struct Key: Hashable {
    let kind: JournalRecord.Kind
    /// The identifier, or the attachment's name.
    let name: String
  }

  /// A recording or attachment that is not redacted yet.
  struct Item {
    let key: Key
    let data: Data
    let time: Date
    let retention: SnapshotMode.Policy.Retention

    /// The identifier used in redaction rules and events.
    var identifier: String { key.kind == .recording ? key.name : "attachments/" + key.name }
    /// Whether only the latest item of the key is stored.
    var isReplacing: Bool { retention == .latest }
  }

  /// A redacted recording or attachment that is not in a file of its own yet.
  struct Ready {
    let record: JournalRecord
    /// The identifier before redaction, for events.
    let identifier: String
    /// The bytes before redaction.
    let charge: Int
    /// The segment of the journal that contains the record, if it could be appended.
    var segment: Int?
  }

  /// The contents of a new snapshot.
  struct Frozen {
    var sources: [SnapshotBundle.Source] = []
    var attachments: [SnapshotBundle.Attachment] = []
    var redactions: [String] = []
    var dropped: [Manifest.Dropped] = []
  }

  /// The reason why something is not stored.
  struct Drop {
    let reason: Manifest.Dropped.Reason
    let identifier: String
    let bytes: Int64

    init(_ reason: Manifest.Dropped.Reason, _ identifier: String, _ bytes: Int) {
      self.reason = reason
      self.identifier = identifier
      self.bytes = Int64(bytes)
    }
  }
}
