import Foundation
import SnapshotFormat
import SystemIO

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
    /// The exchange whose response's body is `data`.
    var exchange: StoredExchange?
    let time: Date
    let retention: SnapshotMode.Policy.Retention

    /// The number of bytes before redaction.
    var size: Int { data.count + (exchange?.requestBody.count ?? 0) }
    /// The identifier used in redaction rules and events.
    var identifier: String { key.kind == .attachment ? "attachments/" + key.name : key.name }
    /// Whether only the latest item of the key is stored.
    var isReplacing: Bool { !retention.keepsHistory }
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
    /// The bytes of the descriptions of exchanges, by the places in ``sources``.
    private var descriptions: [Int: Int] = [:]

    /// The maximum size of the descriptions of all exchanges, so that the manifest, which has white space too, stays within
    /// its limit.
    static let descriptionLimit = 8 << 20

    /// Adds a recording of `storage`: a link to it, and the body of the request, in `folder`.
    mutating func add(_ recording: Storage.Recording, in storage: Storage, _ folder: String)
      throws(SystemError)
    {
      let path = folder + "/recordings/\(recording.name)"
      try Folder.link(storage.recordings + "/\(recording.name)", as: path)
      var source = SnapshotBundle.Source(
        identifier: recording.identifier, file: URL(filePath: path), recordedAt: recording.recordedAt,
        call: recording.name.call)
      if let file = try storage.readExchange(recording.name), let exchange = StoredExchange(file: file) {
        source.exchange = exchange.description
        descriptions[sources.count] = file.count - exchange.requestBody.count
        if !exchange.requestBody.isEmpty {
          let path = folder + "/requests/\(recording.name)"
          try File(path, .create(mode: 0o600)).write(Array(exchange.requestBody), at: 0)
          source.requestBody = URL(filePath: path)
        }
      }
      sources.append(source)
    }

    /// Leaves out the oldest exchanges if the descriptions exceed their limit.
    mutating func limitDescriptions(to limit: Int = descriptionLimit) {
      var left = limit
      let newestFirst = descriptions.sorted {
        (sources[$0.key].recordedAt, $0.key) > (sources[$1.key].recordedAt, $1.key)
      }
      var leftOut: Set<Int> = []
      for (place, size) in newestFirst {
        left -= size
        if left < 0 { leftOut.insert(place) }
      }
      guard !leftOut.isEmpty else { return }
      dropped.append(.init(identifier: nil, reason: .limit, count: leftOut.count, bytes: 0))
      sources = sources.enumerated().filter { !leftOut.contains($0.offset) }.map(\.element)
    }
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
