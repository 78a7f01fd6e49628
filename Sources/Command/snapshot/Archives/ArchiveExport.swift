import Foundation
import HTTPArchive
import HTTPArchiveImport
import SnapshotFormat
import SystemIO

/// Writes the exchanges of a snapshot as an HTTP archive.
///
/// If the snapshot was imported from an archive, its attachment has the entries, in their order, with everything that a
/// manifest can't hold; the bodies are put into them again. Other exchanges follow, in the order in which they began.
struct ArchiveExport {
  /// What creates an archive that states no creator.
  private static let creator = ArchiveValue.object([
    .init("name", ArchiveValue("snapshot")), .init("version", ArchiveValue(ProductVersion.current)),
  ])
  /// The maximum size of a body. An archive with a larger one, in base64, could not be imported.
  static let bodyLimit: Int64 = 44 << 20

  /// The number of exchanges that are written, of those whose bodies are too large, of recordings that are no exchanges,
  /// and of entries whose recordings the snapshot does not have.
  private(set) var count = 0
  private(set) var tooLarge = 0
  private(set) var others = 0
  private(set) var missing = 0

  private let snapshot: OpenSnapshot
  private var recordings: [ArchiveEntry.Reference: Manifest.Recording] = [:]
  private var writer: ArchiveWriter

  /// Writes the exchanges of `snapshot` to `output`.
  init(_ snapshot: OpenSnapshot, to output: ArchiveOutput) throws {
    self.snapshot = snapshot
    writer = try ArchiveWriter { bytes in try output.write(bytes) }
    for recording in snapshot.manifest.recordings {
      guard recording.exchange != nil else {
        others += 1
        continue
      }
      recordings[.init(identifier: recording.identifier, call: recording.call)] = recording
    }
    let attachment = "attachments/" + ArchiveImport.attachment
    if snapshot.members.contains(where: { $0.name == attachment }) {
      try merge(attachment)
    } else {
      try writer.beginLog()
      try writer.beginEntries()
      try writeRest()
      try writer.endEntries()
      try writer.endLog(creator: Self.creator)
    }
    try writer.finish()
    try output.flush()
  }

  private mutating func merge(_ attachment: String) throws {
    let next = try snapshot.pieces(of: attachment)
    var reader = ArchiveReader { try next() }
    while let part = try reader.next() {
      switch part {
      case .beginLog: try writer.beginLog()
      case .member(_, let member):
        try writer.members(ArchiveValue.object([member]).json, named: member.name)
      case .beginEntries: try writer.beginEntries()
      case .entry(let entry, _):
        guard let reference = ArchiveEntry.reference(of: entry) else {
          try writer.entry(entry.json)
          continue
        }
        guard let recording = recordings.removeValue(forKey: reference) else {
          missing += 1
          try writer.entry(ArchiveEntry.withoutReference(entry).json)
          continue
        }
        try write(entry, recording)
      case .endEntries:
        try writeRest()
        try writer.endEntries()
      case .endLog: try writer.endLog(creator: Self.creator)
      }
    }
  }

  /// Writes the exchanges that no entry of the attachment refers to.
  private mutating func writeRest() throws {
    let rest = recordings.values.sorted {
      ($0.exchange?.startedAt ?? $0.recordedAt, $0.recordedAt, $0.path)
        < ($1.exchange?.startedAt ?? $1.recordedAt, $1.recordedAt, $1.path)
    }
    for recording in rest {
      if let exchange = recording.exchange { try write(ArchiveEntry.make(exchange), recording) }
    }
  }

  private mutating func write(_ entry: ArchiveValue, _ recording: Manifest.Recording) throws {
    let request = recording.exchange?.request.body
    guard max(recording.size, request?.size ?? 0) <= Self.bodyLimit else {
      tooLarge += 1
      try writer.entry(ArchiveEntry.withoutReference(entry).json)
      return
    }
    let body = try snapshot.contents(of: recording)
    let requestBody = request == nil ? [] : try readRequestBody(of: recording)
    try writer.entry(ArchiveEntry.merge(entry, requestBody: requestBody, body: body).json)
    count += 1
  }

  private func readRequestBody(of recording: Manifest.Recording) throws -> [UInt8] {
    let next = try snapshot.pieces(of: recording.requestBodyPath)
    var body: [UInt8] = []
    while let piece = try next() {
      body += piece
      guard body.count <= Self.bodyLimit else { break }
    }
    guard ContentDigest.of(body) == recording.exchange?.request.body?.sha256 else {
      throw BundleError.recordingDiffers(
        identifier: recording.identifier, path: recording.requestBodyPath, "its SHA-256 is another one")
    }
    return body
  }
}
