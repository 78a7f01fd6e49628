public import Foundation

extension Manifest {
  /// How much a manifest may hold, whether it is read or written.
  public struct Limits: Sendable, Hashable {
    /// The most bytes of `manifest.json`.
    public var size = 32 << 20
    /// The most recordings.
    public var recordings = 100_000
    /// The most bytes of an identifier's UTF-8.
    public var identifierLength = 64 << 10
    /// The most bytes of the names of redaction rules, and one for each.
    public var redactionLength = 64 << 10
    /// The most bytes of all members of one object that this version of the format does not know.
    public var unknownLength = 1 << 20
    /// The most bytes of text that describe the application, the device and the modules: a server keeps them in
    /// memory for each snapshot, and sends them in lists.
    public var descriptionLength = 256 << 10

    /// The limits above.
    public init() {}

    /// The limits above.
    public static let `default` = Limits()
  }

  /// Reads `manifest.json` and checks it: no two recordings share an identifier (unless the numbers of their calls
  /// differ) or a path (nor do paths differ in case alone, which some disks can't tell apart), every path is one file name in ASCII below `recordings/`.
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

  /// Reads `manifest.json` as ``init(json:limits:)`` does, from pieces that are asked for up to `nil`, no more in all
  /// than the limits allow.
  init(
    limits: Limits = .default, reading source: @escaping () throws(BundleError) -> [UInt8]?
  ) throws(BundleError) {
    var recordings: [Recording] = []
    var reader = ManifestReader(limits: limits, source: source)
    self = try reader.read { if recordings.count < limits.recordings { recordings.append($0) } }
    self.recordings = recordings
    try check(limits)
  }

  /// `manifest.json`, for people and programs; refuses what ``init(json:limits:)`` would refuse.
  public func json(limits: Limits = .default) throws(BundleError) -> Data {
    try check(limits)
    let json: Data
    do {
      json = try SnapshotJSON.encode(self, pretty: true)
    } catch {
      throw .manifestMalformed("it can't be written as JSON (\(error))")
    }
    guard json.count <= limits.size else {
      throw .manifestMalformed("it would have \(json.count) bytes, the most are \(limits.size)")
    }
    return json
  }

  private func check(_ limits: Limits) throws(BundleError) {
    try limits.check(recordingCount: recordings.count)
    try limits.check(descriptionLength: descriptionLength)
    try limits.check(redactionLength: redactions.reduce(0) { $0 + $1.utf8.count + 1 })
    var check = RecordingCheck(limits)
    for recording in recordings { check.take(recording) }
    try check.finish()
  }
}

extension Manifest.Limits {
  var tooMuchUnknown: BundleError {
    .manifestMalformed(
      "an object in it has more than \(unknownLength) bytes that this version of the format does not know")
  }

  func check(recordingCount: Int) throws(BundleError) {
    guard recordingCount <= recordings else {
      throw .manifestMalformed("it names \(recordingCount) recordings, the most are \(recordings)")
    }
  }

  func check(descriptionLength length: Int) throws(BundleError) {
    guard length <= descriptionLength else {
      throw .manifestMalformed(
        "application, device and modules have \(length) bytes of text, the most are \(descriptionLength)")
    }
  }

  func check(redactionLength length: Int) throws(BundleError) {
    guard length <= redactionLength else {
      throw .manifestMalformed("redactions have \(length) bytes of text, the most are \(redactionLength)")
    }
  }
}

extension Manifest {
  /// The bytes of text in what a record takes over, and one for each text.
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
