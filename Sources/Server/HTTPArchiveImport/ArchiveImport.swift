import DataSnapshots
package import Foundation
import HTTPArchive
package import Redaction
package import SnapshotFormat
package import SystemIO

/// Makes a snapshot of an HTTP archive. Its exchanges become recordings with the identifiers under which an app records
/// and replays them; identical requests are the calls of a history, in the order in which they ended.
///
/// What a manifest can't hold is in the attachment ``attachment``: the archive without bodies, whose entries refer to
/// recordings. Everything is redacted before it is written.
package struct ArchiveImport {
  /// The name of the attachment.
  package static let attachment = "archive.har"
  /// The maximum number of entries in the manifest's list of what is left out, and the maximum length of a name there.
  private static let droppedLimit = 500
  private static let nameLength = 300
  /// The bytes of all descriptions after which those of requests are without header fields, so that the manifest stays
  /// within its limit. The attachment has them.
  private static let describedLimit = 8 << 20

  private struct Call {
    let identifier: String
    let endedAt: Date
    let exchange: Manifest.Exchange
    let body: URL
    let requestBody: URL?
    var number = 0
  }

  /// A part of the attachment.
  private enum Part {
    case beginLog, entries, endLog
    case member(name: String, json: [UInt8])
  }

  /// What is left out, in the order of the archive.
  package private(set) var dropped: [Manifest.Dropped] = []
  /// The reasons for people, at most as many as ``dropped`` may have.
  package private(set) var leftOut: [String] = []
  /// The number of entries, and of those that are not recorded.
  package private(set) var entryCount = 0
  package private(set) var leftOutCount = 0
  /// The number of bodies whose size is not what the archive states.
  package private(set) var otherSizes = 0

  private let limits = ArchiveLimits()
  private let identifiers = ExchangeRules()
  private let redactor: Redactor
  private let redactions: [String]
  private let file: ArchiveFile
  private let folder: URL
  private let skeletons: File
  private var skeletonsSize: Int64 = 0
  private var entries: [(start: Int64, size: Int, call: Int?)] = []
  private var parts: [Part] = []
  private var calls: [Call] = []
  private var described = 0

  /// Reads `file`. Blocks.
  /// - Parameters:
  ///   - rules: the rules by which everything is redacted.
  ///   - folder: an empty folder, which the caller removes after ``pack(to:report:id:)``. It gets the redacted parts.
  package init(_ file: ArchiveFile, by rules: RedactionRules, in folder: URL) throws(ArchiveImportError) {
    redactor = Redactor(
      rules: rules.rules, unknownBinaries: rules.unknownBinaries, placeholders: .distinct())
    redactions = rules.rules.map(\.name)
    (self.file, self.folder) = (file, folder)
    do {
      skeletons = try File(folder.appending(path: "entries").path, .create(mode: 0o600))
      try read()
    } catch let error as ArchiveError {
      throw ArchiveImportError("\(file.name) \(error).")
    } catch {
      throw ArchiveImportError("\(file.name) can't be imported: \(error)", error)
    }
    number()
  }

  /// The number of exchanges.
  package var count: Int { calls.count }

  private mutating func read() throws {
    var reader = ArchiveReader(limits: limits, try file.pieces())
    while let part = try reader.next() {
      switch part {
      case .beginLog: parts.append(.beginLog)
      case .endLog: parts.append(.endLog)
      case .beginEntries: parts.append(.entries)
      case .endEntries: break
      case .member(let place, let read):
        let member = place == .log ? read.completed : read
        // With its name, which can be that of a secret.
        guard let json = redacted(ArchiveValue.object([member])) else {
          throw ArchiveError.limit("has a member ‘\(member.name)’ that can't be redacted")
        }
        parts.append(.member(name: member.name, json: json))
      case .entry(let value, let isWhole): try take(ArchiveEntry(value, isWhole: isWhole))
      }
    }
  }

  private mutating func take(_ read: ArchiveEntry) throws {
    var entry = read
    entryCount += 1
    var bodySize: Int?
    var identifier = ""
    do {
      let exchange = try entry.exchange(limits) { name in try file.body(name, limit: limits.fileSize) }
      identifier = identifiers.identifier(
        method: exchange.description.request.method, url: exchange.url, body: exchange.requestBody, redactor)
      let body = try redactor.redact(exchange.body, as: identifier)
      let stored = try redactor.redact(
        StoredExchange(exchange.description, requestBody: exchange.requestBody), body: exchange.body,
        redacted: body, as: identifier)
      try add(stored, body, as: identifier, endedAt: exchange.endedAt)
      bodySize = body.count
      if exchange.statedSize != nil { otherSizes += 1 }
    } catch let omission as ArchiveOmission {
      let name = omission.url.isEmpty ? "entry \(entryCount)" : "\(omission.method) \(omission.url)"
      drop(
        redactor.redact(identifier: String(name.prefix(limits.urlLength))), omission.dropped, omission.bytes,
        omission.description)
    } catch let failure as Redactor.Failure {
      drop(identifier, failure.reason, 0, failure.description)
    }
    guard let json = redacted(entry.withoutBodies(bodySize: bodySize)) else { return }
    try skeletons.write(json, at: skeletonsSize)
    entries.append((skeletonsSize, json.count, bodySize == nil ? nil : calls.count - 1))
    skeletonsSize += Int64(json.count)
  }

  /// The JSON of a part of the archive after redaction; `nil` if it can't be redacted.
  private func redacted(_ value: ArchiveValue) -> [UInt8]? {
    do {
      return Array(try redactor.redact(Data(value.json), as: "attachments/" + Self.attachment))
    } catch {
      return nil
    }
  }

  private mutating func add(
    _ stored: StoredExchange, _ body: Data, as identifier: String, endedAt: Date
  ) throws {
    var exchange = stored.description
    described += exchange.descriptionSize
    if described > Self.describedLimit { exchange.request.fields = [] }
    let file = folder.appending(path: "\(calls.count)")
    try body.write(to: file)
    var requestFile: URL?
    if !stored.requestBody.isEmpty {
      let place = folder.appending(path: "\(calls.count)-request")
      try stored.requestBody.write(to: place)
      requestFile = place
    }
    calls.append(
      Call(
        identifier: identifier, endedAt: endedAt, exchange: exchange, body: file, requestBody: requestFile))
  }

  private mutating func drop(
    _ identifier: String, _ reason: Manifest.Dropped.Reason, _ bytes: Int64, _ explanation: String
  ) {
    leftOutCount += 1
    var name: String? = String(identifier.prefix(Self.nameLength))
    if leftOut.count < Self.droppedLimit { leftOut.append("\(name ?? ""): \(explanation)") }
    func place() -> Int? { dropped.firstIndex { $0.identifier == name && $0.reason == reason } }
    if place() == nil, dropped.count >= Self.droppedLimit { name = nil }
    if let place = place() {
      dropped[place].count += 1
      dropped[place].bytes += bytes
    } else {
      dropped.append(.init(identifier: name, reason: reason, count: 1, bytes: bytes))
    }
  }

  /// Numbers the calls of each identifier in the order in which they ended.
  private mutating func number() {
    let order = calls.indices.sorted { (calls[$0].endedAt, $0) < (calls[$1].endedAt, $1) }
    var counts: [String: Int] = [:]
    for index in order {
      let number = (counts[calls[index].identifier] ?? 0) + 1
      counts[calls[index].identifier] = number
      calls[index].number = number
    }
  }

  // MARK: - The snapshot

  /// Packs the snapshot into the new file `zip`, and returns its manifest. Blocks.
  package func pack(to zip: URL, report: ReportID?) throws(ArchiveImportError) -> Manifest {
    let sources = calls.map { call in
      SnapshotBundle.Source(
        identifier: call.identifier, file: call.body, recordedAt: call.endedAt, call: call.number,
        exchange: call.exchange, requestBody: call.requestBody)
    }
    var manifest = Manifest(
      id: SnapshotID(), createdAt: Date(),
      application: .init(
        identifier: redactor.redact(words: URL(filePath: file.name).lastPathComponent), version: "-",
        build: "-"),
      // No archive says on what it was made.
      device: .init(model: "-", system: "-", systemVersion: "-", locale: "-"), report: report,
      redactions: redactions)
    manifest.dropped = dropped
    do {
      let archive = folder.appending(path: Self.attachment)
      try writeAttachment(to: archive)
      return try SnapshotBundle.pack(
        sources, attachments: [.init(name: Self.attachment, file: archive)], describedBy: manifest, to: zip
      ).manifest
    } catch {
      throw ArchiveImportError("\(file.name) can't be imported: \(error)", error)
    }
  }

  private func writeAttachment(to url: URL) throws {
    let output = try ArchiveOutput(File(url.path, .create(mode: 0o600)))
    var writer = try ArchiveWriter { bytes in try output.write(bytes) }
    for part in parts {
      switch part {
      case .beginLog: try writer.beginLog()
      case .member(let name, let json): try writer.members(json, named: name)
      case .entries:
        try writer.beginEntries()
        for entry in entries {
          var json = try skeletons.read(upTo: entry.size, at: entry.start)
          if let call = entry.call.map({ calls[$0] }) {
            let reference = ArchiveEntry.Reference(identifier: call.identifier, call: call.number)
            json = json.dropLast() + [UInt8(ascii: ",")] + ArchiveEntry.json(reference).dropFirst()
          }
          try writer.entry(json)
        }
        try writer.endEntries()
      case .endLog: try writer.endLog(creator: nil)
      }
    }
    try writer.finish()
    try output.flush()
  }
}

/// The reason why a file is not imported.
package struct ArchiveImportError: Error, Sendable, CustomStringConvertible {
  /// A sentence that names the file.
  package let description: String
  /// The failure of the disk or the system that is the reason; `nil` if it is the file.
  package let systemError: SystemError?

  init(_ description: String, _ cause: (any Error)? = nil) {
    self.description = description
    systemError = cause as? SystemError
  }
}
