import DataSnapshots
import Foundation
import Redaction
import SnapshotFormat
import SystemIO

/// A copy of a snapshot without the secrets that rules find, in a folder.
///
/// A file that can't be redacted is left out, and the manifest says why. The manifest's note and fields are redacted too,
/// unless they are to be kept. The copy has another UUID, since the bytes of a UUID are always the same.
struct RedactedCopy {
  /// The maximum size of a file that is redacted, in bytes. It is read into memory.
  static let fileLimit: Int64 = 256 << 20

  /// The manifest of the copy.
  private(set) var manifest: Manifest
  /// What was found.
  private(set) var found: [SecretPlaces] = []
  /// The names of rules for JSON paths that matched nothing.
  private(set) var idleRules: [String]

  private let folder: URL
  private let rules: RedactionRules
  private let redactor: Redactor
  private let isReproducible: Bool

  /// Redacts the files in `folder`, the unpacked snapshot of `manifest`, and replaces its manifest.
  /// - Parameters:
  ///   - keepsWords: whether the note and the fields are kept as they are.
  ///   - isReproducible: whether the same snapshot and rules always give the same copy, with the same UUID. All secrets are
  ///     then replaced alike, since placeholders that tell them apart are random.
  init(
    of manifest: Manifest, in folder: URL, by rules: RedactionRules, keepsWords: Bool,
    isReproducible: Bool = false
  ) throws(CommandFailure) {
    (self.manifest, self.folder, self.rules) = (manifest, folder, rules)
    self.isReproducible = isReproducible
    redactor = Redactor(
      rules: rules.rules, unknownBinaries: rules.unknownBinaries,
      placeholders: isReproducible ? .uniform : .distinct())
    idleRules = rules.rules.filter(\.isAboutPath).map(\.name)
    do {
      try redactRecordings()
      try redactExtras()
      if !keepsWords { redactWords() }
      try writeManifest()
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure("\(error)")
    }
  }

  // MARK: - Recordings

  private mutating func redactRecordings() throws {
    var left: [Manifest.Recording] = []
    var taken = Set(manifest.recordings.map(\.path))
    for recording in manifest.recordings {
      guard var copy = try redacted(recording) else { continue }
      let identifier = redactor.redact(identifier: recording.identifier)
      if identifier != recording.identifier {
        copy.identifier = identifier
        // Two identifiers can differ only in what was removed.
        var number = 2
        while !taken.insert(Self.path(of: copy)).inserted {
          copy.identifier = "\(identifier) \(number)"
          number += 1
        }
        try move(recording, to: &copy)
      }
      left.append(copy)
    }
    manifest.recordings = left
    for index in manifest.modules.indices {
      manifest.modules[index].files = manifest.modules[index].files.map { redactor.redact(identifier: $0) }
    }
  }

  /// Redacts the files of a recording; returns `nil` if it is left out.
  private mutating func redacted(_ recording: Manifest.Recording) throws -> Manifest.Recording? {
    let (identifier, call) = (recording.identifier, recording.call)
    guard let body = try redactFile(recording.path, as: identifier, call: call) else {
      if recording.exchange?.request.body != nil { try remove(recording.requestBodyPath) }
      return nil
    }
    var copy = recording
    (copy.size, copy.sha256) = (Int64(body.left.count), .of(body.left))
    guard let exchange = recording.exchange else { return copy }
    var request = (original: Data(), left: Data())
    if exchange.request.body != nil {
      guard let redacted = try redactFile(recording.requestBodyPath, as: identifier, call: call) else {
        try remove(recording.path)
        return nil
      }
      request = redacted
    }
    var described = try redactor.redact(
      StoredExchange(exchange, requestBody: request.original), body: body.original, redacted: body.left,
      as: identifier
    ).description
    let places = Self.places(exchange, described)
    if !places.isEmpty {
      found.append(SecretPlaces(redactor.redact(identifier: identifier), call: call, places: places))
    }
    if exchange.request.body != nil {
      described.request.body = .init(size: Int64(request.left.count), sha256: .of(request.left))
    }
    copy.exchange = described
    return copy
  }

  /// The parts of an exchange's description that differ.
  private static func places(_ exchange: Manifest.Exchange, _ other: Manifest.Exchange) -> [String] {
    var places = exchange.request.url == other.request.url ? [] : ["request URL"]
    if exchange.redirect?.url != other.redirect?.url { places.append("redirect URL") }
    func compare(_ kind: String, _ fields: [Manifest.Exchange.Field], _ others: [Manifest.Exchange.Field]) {
      places += fields.filter { !others.contains($0) }.map { "\(kind) field \($0.name)" }
    }
    compare("request", exchange.request.fields, other.request.fields)
    compare("response", exchange.response?.fields ?? [], other.response?.fields ?? [])
    return places
  }

  private static func path(of recording: Manifest.Recording) -> String {
    let name = RecordingName(recording.identifier)
    return "recordings/" + (recording.call.map { RecordingName(name, call: $0) } ?? name).description
  }

  /// Renames the files of a recording whose identifier has changed.
  private func move(_ recording: Manifest.Recording, to copy: inout Manifest.Recording) throws {
    copy.path = Self.path(of: copy)
    try Folder.replace(path(copy.path), with: path(recording.path))
    if copy.exchange?.request.body != nil {
      try Folder.replace(path(copy.requestBodyPath), with: path(recording.requestBodyPath))
    }
  }

  // MARK: - Other files

  private mutating func redactExtras() throws {
    let own = Set(manifest.recordings.flatMap { [$0.path, $0.requestBodyPath] }).union(["manifest.json"])
    for name in try FolderTree(folder.path).files where !own.contains(name) {
      _ = try redactFile(name, as: name, call: nil)
    }
  }

  /// Redacts a file in place. Returns its contents before and after, or `nil` if it can't be redacted and was removed.
  private mutating func redactFile(
    _ name: String, as identifier: String, call: Int?
  ) throws -> (original: Data, left: Data)? {
    let file = path(name)
    let size = try File(file).size
    guard size <= Self.fileLimit else {
      try leaveOut(
        name, identifier, call, .tooLarge, size,
        "it has \(size) bytes; the limit is \(Self.fileLimit)")
      return nil
    }
    let original = try Data(contentsOf: URL(filePath: file))
    let left: Data
    do { left = try redactor.redact(original, as: identifier) } catch {
      try leaveOut(name, identifier, call, error.reason, size, error.description)
      return nil
    }
    removeMatchingRules(in: original, identifier)
    if left != original {
      found.append(
        SecretPlaces(identifier, call: call, from: Array(original), to: Array(left), redactor))
      try left.write(to: URL(filePath: file))
    }
    return (original, left)
  }

  private mutating func removeMatchingRules(in data: Data, _ identifier: String) {
    idleRules.removeAll { name in
      rules.rules.contains { rule in
        guard rule.name == name, rule.isAboutPath, rule.applies(to: identifier) else { return false }
        do {
          return try Redactor(rules: [rule], unknownBinaries: .keep).redact(data, as: identifier) != data
        } catch {
          return false
        }
      }
    }
  }

  private mutating func leaveOut(
    _ name: String, _ identifier: String, _ call: Int?, _ reason: Manifest.Dropped.Reason, _ size: Int64,
    _ explanation: String
  ) throws {
    try remove(name)
    let identifier = redactor.redact(identifier: identifier)
    found.append(SecretPlaces(identifier, call: call, places: [], reason: explanation))
    manifest.dropped.append(.init(identifier: identifier, reason: reason, count: 1, bytes: size))
  }

  private func remove(_ name: String) throws { try Folder.removeIfPresent(path(name)) }

  private func path(_ name: String) -> String { folder.path + "/" + name }

  // MARK: - The manifest

  private mutating func redactWords() {
    let (note, fields) = (manifest.note, manifest.fields)
    redactor.redactWords(of: &manifest)
    let changed = fields.filter { manifest.fields[$0.key] != $0.value }.keys.sorted().map { "field \($0)" }
    let places = (manifest.note == note ? [] : ["note"]) + changed
    if !places.isEmpty { found.append(SecretPlaces("manifest.json", places: places)) }
  }

  private mutating func writeManifest() throws {
    let names = rules.rules.map(\.name)
    manifest.redactions += names.filter { !manifest.redactions.contains($0) }
    manifest.id = isReproducible ? try Self.id(of: manifest) : SnapshotID()
    try manifest.json().write(to: URL(filePath: path("manifest.json")))
  }

  /// A UUID (version 8) that follows from everything in the copy.
  private static func id(of manifest: Manifest) throws -> SnapshotID {
    var bytes = Array(ContentDigest.of(try manifest.json()).bytes.prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    return SnapshotID(bytes: bytes) ?? SnapshotID()
  }
}
