import Foundation
import JSONText

/// Reads `manifest.json` piece by piece and delivers each recording when it has been read. Memory use does not depend
/// on the number of recordings.
struct ManifestReader {
  private typealias Failure = ManifestScanner.Failure
  private typealias Reading = ManifestScanner.Reading

  private let limits: Manifest.Limits
  private var scanner: ManifestScanner

  private var formatVersion: Reading<Int64>?
  private var id: Reading<SnapshotID>?
  private var createdAt: Reading<Date>?
  private var application: Reading<Manifest.Application>?
  private var device: Reading<Manifest.Device>?
  private var report: Reading<ReportID?>?
  private var modules: Reading<[Module]>?
  private var recordings: Reading<Void>?
  private var redactions: Reading<[String]>?
  private var note: Reading<String?>?
  private var fields: Reading<[String: String]?>?
  private var unknown: [String: JSONValue] = [:]
  private var unknownProblem: ManifestProblem?

  /// The number of recordings delivered.
  private(set) var recordingCount = 0
  /// The number of bytes of text in all modules and in all redactions, including text that exceeds a limit and is not
  /// kept.
  private var moduleLength = 0
  private var redactionLength = 0

  /// Starts reading the pieces that `source` returns, until it returns `nil`.
  init(limits: Manifest.Limits, source: @escaping () throws(BundleError) -> [UInt8]?) {
    self.limits = limits
    scanner = ManifestScanner(limits: limits, source: source)
  }

  /// Reads the manifest. The version has priority over all other errors, so that a newer format is reported as
  /// ``BundleError/formatTooNew(found:supported:)`` even if its keys have changed.
  ///
  /// The values of a recording are parsed but not validated; ``RecordingCheck`` does that.
  /// - Parameter body: Called with each recording. Other errors in the manifest are thrown after the last call.
  /// - Returns: The manifest without its recordings.
  mutating func read(
    _ body: (Manifest.Recording) throws(BundleError) -> Void
  ) throws(BundleError) -> Manifest {
    do throws(Failure) {
      var scanner = scanner
      let outcome = try scanner.attempt { scanner throws(Failure) in
        try scanner.object(
          unknown: { scanner, key throws(Failure) in
            try readUnknown(key, &scanner)
          },
          { scanner, key throws(Failure) in
            try read(key, &scanner, body)
          })
      }
      // Only white space can follow.
      _ = try scanner.next()
      if case .failure(let problem) = outcome { throw .problem(problem) }
      let manifest = try makeManifest()
      if let key = scanner.repeatedKey {
        throw .refused(.manifestMalformed("‘\(key.prefix(200))’ occurs twice in one object"))
      }
      try check(manifest)
      return manifest
    } catch {
      switch error {
      case .problem(let problem): throw problem.error
      case .refused(let error): throw error
      }
    }
  }

  /// Reads the value of a key of the manifest. Returns `false` if the key is unknown.
  private mutating func read(
    _ key: String, _ scanner: inout ManifestScanner,
    _ body: (Manifest.Recording) throws(BundleError) -> Void
  ) throws(Failure) -> Bool {
    switch key {
    case "formatVersion": formatVersion = try scanner.attempt { json throws(Failure) in try json.integer() }
    case "id": id = try scanner.attempt { json throws(Failure) in try json.id() }
    case "createdAt": createdAt = try scanner.attempt { json throws(Failure) in try json.time() }
    case "application": application = try scanner.attempt { json throws(Failure) in try json.application() }
    case "device": device = try scanner.attempt { json throws(Failure) in try json.device() }
    case "report":
      report = try scanner.attempt { scanner throws(Failure) in
        try scanner.optional { json throws(Failure) in try json.report() }
      }
    case "modules":
      modules = try scanner.attempt { scanner throws(Failure) in
        try readModules(&scanner)
      }
    case "recordings":
      recordings = try scanner.attempt { scanner throws(Failure) in
        try scanner.array { scanner throws(Failure) in
          let recording = try scanner.recording()
          recordingCount += 1
          do throws(BundleError) { try body(recording) } catch { throw .refused(error) }
        }
      }
    case "redactions":
      redactions = try scanner.attempt { scanner throws(Failure) in
        var names: [String] = []
        try scanner.array { scanner throws(Failure) in
          let name = try scanner.string()
          redactionLength += name.utf8.count + 1
          if redactionLength <= limits.redactionLength { names.append(name) }
        }
        return names
      }
    case "note":
      note = try scanner.attempt { scanner throws(Failure) in
        try scanner.optional { json throws(Failure) in try json.string() }
      }
    case "fields":
      fields = try scanner.attempt { scanner throws(Failure) in
        try scanner.optional { json throws(Failure) in try json.texts(most: limits.fields) }
      }
    default: return false
    }
    return true
  }

  private mutating func readModules(_ scanner: inout ManifestScanner) throws(Failure) -> [Module] {
    var modules: [Module] = []
    try scanner.array { scanner throws(Failure) in
      let module = try scanner.module { text in
        moduleLength += text.utf8.count + 1
        return moduleLength <= limits.descriptionLength
      }
      if moduleLength <= limits.descriptionLength { modules.append(module) }
    }
    return modules
  }

  private mutating func readUnknown(_ key: String, _ scanner: inout ManifestScanner) throws(Failure) {
    switch try scanner.attempt({ json throws(Failure) in try json.value() }) {
    case .success(let value): unknown[key] = value
    case .failure(let problem): unknownProblem = unknownProblem ?? problem.below(key)
    }
  }

  private func makeManifest() throws(Failure) -> Manifest {
    let version = try ManifestScanner.require(formatVersion, "formatVersion")
    guard version <= Manifest.sealedFormatVersion else {
      throw .refused(
        .formatTooNew(found: Int(clamping: version), supported: Manifest.sealedFormatVersion))
    }
    guard version >= 1 else {
      throw .problem(
        ManifestProblem(.wrong("versions begin at 1, this is \(version)"), at: "formatVersion"))
    }
    // The head of a sealed bundle may hide everything else.
    let isHead = version == Manifest.sealedFormatVersion
    var manifest = Manifest(
      id: try ManifestScanner.require(id, "id"),
      createdAt: try ManifestScanner.require(createdAt, "createdAt"),
      application: try ManifestScanner.require(
        application ?? (isHead ? .success(.hidden) : nil), "application"),
      device: try ManifestScanner.require(device ?? (isHead ? .success(.hidden) : nil), "device"),
      report: try ManifestScanner.require(report ?? .success(nil), "report"),
      modules: try ManifestScanner.require(modules ?? (isHead ? .success([]) : nil), "modules"))
    manifest.formatVersion = Int(version)
    if !isHead {
      try ManifestScanner.require(recordings, "recordings")
    } else if recordings != nil {
      throw .problem(ManifestProblem(.wrong("the head of a sealed bundle has none"), at: "recordings"))
    }
    manifest.redactions = try ManifestScanner.require(
      redactions ?? (isHead ? .success([]) : nil), "redactions")
    manifest.note = try ManifestScanner.require(note ?? .success(nil), "note")
    manifest.fields = try ManifestScanner.require(fields ?? .success(nil), "fields") ?? [:]
    if let unknownProblem { throw .problem(unknownProblem) }
    manifest.unknown = unknown
    if isHead {
      guard let json = manifest.unknown.removeValue(forKey: "sealed") else {
        throw .problem(ManifestProblem(.missing, at: "sealed"))
      }
      do { manifest.sealed = try SealedContents(json: json) } catch {
        throw .problem(error.below("sealed"))
      }
    }
    return manifest
  }

  private func check(_ manifest: Manifest) throws(Failure) {
    do {
      try limits.check(recordingCount: recordingCount)
      var own = manifest
      own.modules = []
      try limits.check(descriptionLength: own.descriptionLength + moduleLength)
      try limits.check(redactionLength: redactionLength)
      try limits.check(note: manifest.note, fields: manifest.fields)
    } catch {
      throw .refused(error)
    }
  }
}
