public import Foundation
import JSONText

extension Manifest {
  /// Limits of a manifest, for reading and writing.
  public struct Limits: Sendable, Hashable {
    /// The maximum size of `manifest.json` in bytes.
    public var size = 32 << 20
    /// The maximum number of recordings.
    public var recordings = 100_000
    /// The maximum length of an identifier in UTF-8 bytes.
    public var identifierLength = 64 << 10
    /// The maximum number of bytes in the names of all redaction rules, plus one for each name.
    public var redactionLength = 64 << 10
    /// The maximum number of bytes in the unknown members of one object.
    public var unknownLength = 1 << 20
    /// The maximum number of bytes of text in the descriptions of the application, the device and the modules. A server
    /// keeps them in memory for each snapshot and sends them in lists.
    public var descriptionLength = 256 << 10
    /// The maximum length of ``Manifest/note`` in UTF-8 bytes.
    public var noteLength = 32 << 10
    /// The maximum number of ``Manifest/fields``.
    public var fields = 32
    /// The maximum length of a field's name in UTF-8 bytes.
    public var fieldNameLength = 128
    /// The maximum length of a field's value in UTF-8 bytes.
    public var fieldLength = 16 << 10

    /// Creates the default limits.
    public init() {}

    /// The default limits.
    public static let `default` = Limits()
  }

  /// Parses and checks `manifest.json`. No two recordings can have the same identifier, unless their call numbers
  /// differ, or the same path, ignoring letter case, which some file systems do not distinguish. Every path must be
  /// `recordings/` followed by a single file name in ASCII.
  /// - Throws: ``BundleError/manifestMalformed(_:)`` or ``BundleError/formatTooNew(found:supported:)``.
  public init(json: Data, limits: Limits = .default) throws(BundleError) {
    guard json.count <= limits.size else {
      throw .manifestMalformed("it has more than \(limits.size) bytes")
    }
    var rest = json[...]
    try self.init(limits: limits) {
      let piece = rest.prefix(1 << 16)
      rest = rest.dropFirst(piece.count)
      return piece.isEmpty ? nil : Array(piece)
    }
  }

  /// Parses `manifest.json` as ``init(json:limits:)`` does, from the pieces that `source` returns until it returns
  /// `nil`. The caller must ensure that their total size is within the limits.
  init(
    limits: Limits = .default, reading source: @escaping () throws(BundleError) -> [UInt8]?
  ) throws(BundleError) {
    var recordings: [Recording] = []
    var reader = ManifestReader(limits: limits, source: source)
    self = try reader.read { if recordings.count < limits.recordings { recordings.append($0) } }
    self.recordings = recordings
    try check(limits)
  }

  /// The contents of `manifest.json`, formatted for readability. Throws if ``init(json:limits:)`` would reject the
  /// manifest.
  public func json(limits: Limits = .default) throws(BundleError) -> Data {
    try check(limits)
    let json: Data
    do {
      json = try SnapshotJSON.encode(self, pretty: true)
    } catch {
      throw .manifestMalformed("it can't be written as JSON (\(error))")
    }
    guard json.count <= limits.size else {
      throw .manifestMalformed("it would have \(json.count) bytes; the limit is \(limits.size)")
    }
    return json
  }

  private func check(_ limits: Limits) throws(BundleError) {
    try limits.check(recordingCount: recordings.count)
    try limits.check(descriptionLength: descriptionLength)
    try limits.check(redactionLength: redactions.reduce(0) { $0 + $1.utf8.count + 1 })
    try limits.check(note: note, fields: fields)
    if let problem = sealed?.problem { throw problem.below("sealed").error }
    var check = RecordingCheck(limits)
    for recording in recordings { check.take(recording) }
    try check.finish()
  }
}

extension Manifest.Limits {
  var tooMuchUnknown: BundleError {
    .manifestMalformed(
      "an object in it has more than \(unknownLength) bytes in unknown keys")
  }

  func check(recordingCount: Int) throws(BundleError) {
    guard recordingCount <= recordings else {
      throw .manifestMalformed("it names \(recordingCount) recordings; the limit is \(recordings)")
    }
  }

  func check(descriptionLength length: Int) throws(BundleError) {
    guard length <= descriptionLength else {
      throw .manifestMalformed(
        "application, device and modules have \(length) bytes of text; the limit is \(descriptionLength)")
    }
  }

  func check(redactionLength length: Int) throws(BundleError) {
    guard length <= redactionLength else {
      throw .manifestMalformed(
        "redactions have \(length) bytes of text; the limit is \(redactionLength)")
    }
  }

  func check(note: String?, fields: [String: String]) throws(BundleError) {
    if let note { try check("note", note, limit: noteLength) }
    guard fields.count <= self.fields else {
      throw .manifestMalformed("there are more than \(self.fields) fields")
    }
    // In order, so that the same manifest is always refused for the same reason.
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
      try check("the name of a field", name, limit: fieldNameLength)
      try check("the field ‘\(name)’", value, limit: fieldLength)
    }
  }

  private func check(_ place: String, _ text: String, limit: Int) throws(BundleError) {
    guard text.utf8.count <= limit else {
      throw .manifestMalformed("\(place) has \(text.utf8.count) bytes; the limit is \(limit)")
    }
    guard !text.utf8.contains(0) else { throw .manifestMalformed("\(place) contains a null character") }
  }
}

extension Manifest {
  /// The number of bytes in the texts that a server's record contains, plus one for each text.
  var descriptionLength: Int {
    let few = [
      application.identifier, application.version, application.build, device.model, device.system,
      device.systemVersion, device.locale,
    ]
    let length = few.reduce(0) { $0 + $1.utf8.count + 1 }
    return modules.reduce(length) { sum, module in
      module.files.reduce(sum + module.name.utf8.count + 1) { $0 + $1.utf8.count + 1 }
    }
  }
}

extension Manifest: Encodable {
  private enum Key: String, CodingKey {
    case formatVersion, id, createdAt, application, device, report, modules, recordings, redactions
    case note, fields, sealed
  }

  /// Encodes the manifest, including unknown keys.
  public func encode(to encoder: any Encoder) throws {
    var all = encoder.container(keyedBy: JSONKey.self)
    for (name, value) in unknown where Key(rawValue: name) == nil || name == "sealed" && sealed == nil {
      try all.encode(value, forKey: JSONKey(name))
    }
    var keys = encoder.container(keyedBy: Key.self)
    try keys.encode(formatVersion, forKey: .formatVersion)
    try keys.encode(id, forKey: .id)
    try keys.encode(createdAt, forKey: .createdAt)
    try keys.encodeIfPresent(report, forKey: .report)
    if let sealed {
      try keys.encode(sealed, forKey: .sealed)
      if application != .hidden { try keys.encode(application, forKey: .application) }
      if device != .hidden { try keys.encode(device, forKey: .device) }
      if !modules.isEmpty { try keys.encode(modules, forKey: .modules) }
      if !redactions.isEmpty { try keys.encode(redactions, forKey: .redactions) }
    } else {
      try keys.encode(application, forKey: .application)
      try keys.encode(device, forKey: .device)
      try keys.encode(modules, forKey: .modules)
      try keys.encode(recordings, forKey: .recordings)
      try keys.encode(redactions, forKey: .redactions)
    }
    try keys.encodeIfPresent(note, forKey: .note)
    if !fields.isEmpty { try keys.encode(fields, forKey: .fields) }
  }
}
