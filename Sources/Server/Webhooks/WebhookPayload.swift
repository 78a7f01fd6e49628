import Foundation
import SnapshotFormat

/// A field of a record that events can have. None of them contains recorded data, or an identifier of a recording.
package enum WebhookField: String, Sendable, Hashable, CaseIterable {
  case application, createdAt, device, expiresAt, modules, problemCount, receivedAt, recordingCount, sealed,
    sha256,
    size, verified
  /// The identifier of the token that attached the snapshot.
  case attachedBy
  /// What users wrote.
  case comment, metadata, note

  /// The fields that events have if the settings name none: no text that a user wrote.
  package static let usual: Set<WebhookField> = [.application, .createdAt, .receivedAt, .size]

  /// Whether the field can be too long for an event.
  var isLong: Bool {
    switch self {
    case .comment, .metadata, .note, .modules: true
    default: false
    }
  }
}

/// The JSON of an event.
struct WebhookPayload: Encodable {
  private let type: String
  private let timestamp: Date
  private var data: Contents

  init(
    _ kind: WebhookEvent.Kind, _ snapshot: SnapshotID, _ record: SnapshotRecord?, comment: Int?,
    end: Date?, _ settings: WebhookSettings, at now: Date
  ) {
    type = kind.rawValue
    timestamp = now
    data = Contents(
      snapshot: snapshot, report: record?.report,
      links: Links(snapshot, base: settings.linkBase), expiresAt: end,
      record: record.map { RecordFields($0, settings.fields, comment: comment) })
  }

  /// Leaves out the fields that `matches` selects, and names them.
  mutating func omit(_ matches: (WebhookField) -> Bool) {
    guard let fields = data.record?.fields else { return }
    let omitted = fields.filter(matches)
    data.record?.fields.subtract(omitted)
    data.omitted = Set(data.omitted ?? []).union(omitted.map(\.rawValue)).sorted()
  }

  private struct Contents: Encodable {
    let snapshot: SnapshotID
    let report: ReportID?
    let links: Links
    /// When the snapshot expires, if that is the event.
    let expiresAt: Date?
    var record: RecordFields?
    /// The fields that would have made the event too long.
    var omitted: [String]?
  }

  private struct Links: Encodable {
    /// The web page, and the record in the API.
    let page: String
    let api: String

    init(_ snapshot: SnapshotID, base: String) {
      page = "\(base)/snapshots/\(snapshot)"
      api = "\(base)/v1/snapshots/\(snapshot)"
    }
  }
}

/// The chosen fields of a record.
private struct RecordFields: Encodable {
  let record: SnapshotRecord
  var fields: Set<WebhookField>
  /// The index of the comment that was written.
  let comment: Int?

  init(_ record: SnapshotRecord, _ fields: Set<WebhookField>, comment: Int?) {
    self.record = record
    self.fields = fields
    self.comment = comment
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  private struct Comment: Encodable {
    let text: String
    let writtenAt: Date
    let author: String?
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    for field in fields {
      let key = Key(stringValue: field.rawValue)
      switch field {
      case .application: try container.encode(record.application, forKey: key)
      case .attachedBy: try container.encodeIfPresent(record.attachedBy, forKey: key)
      case .createdAt: try container.encode(record.createdAt, forKey: key)
      case .device: try container.encode(record.device, forKey: key)
      case .expiresAt: try container.encodeIfPresent(record.expiresAt, forKey: key)
      case .metadata: try container.encode(record.metadata, forKey: key)
      case .modules: try container.encode(record.modules.map(\.name), forKey: key)
      case .note: try container.encodeIfPresent(record.metadata["note"], forKey: key)
      case .problemCount: try container.encodeIfPresent(record.problemCount, forKey: key)
      case .receivedAt: try container.encode(record.receivedAt, forKey: key)
      case .recordingCount: try container.encode(record.recordingCount, forKey: key)
      case .sealed: try container.encode(record.sealed != nil, forKey: key)
      case .sha256: try container.encode(record.sha256, forKey: key)
      case .size: try container.encode(record.size, forKey: key)
      case .verified: try container.encode(record.verified, forKey: key)
      case .comment:
        guard let comments = record.comments, let comment, comments.indices.contains(comment) else {
          continue
        }
        let written = comments[comment]
        try container.encode(
          Comment(text: written.text, writtenAt: written.writtenAt, author: written.author), forKey: key)
      }
    }
  }
}
