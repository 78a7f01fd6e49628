import Foundation

extension SnapshotRecord {
  /// The record that `json` is, as ``SnapshotJSON`` writes it; `nil` where it is none, or says something twice. Keys that
  /// are not known are passed over.
  ///
  /// Takes a small part of the time that decoding takes, for whoever reads every record of a store.
  package init?(json: [UInt8]) {
    // Nothing that a document holds is longer than the document.
    var limits = Manifest.Limits()
    limits.identifierLength = json.count
    limits.unknownLength = json.count
    var rest: [UInt8]? = json
    var scanner = ManifestScanner(limits: limits) {
      defer { rest = nil }
      return rest
    }
    do throws(ManifestScanner.Failure) {
      self = try scanner.record()
      guard try scanner.next() == nil, scanner.repeatedKey == nil else { return nil }
    } catch {
      return nil
    }
  }
}

extension ManifestScanner {
  fileprivate mutating func record() throws(Failure) -> SnapshotRecord {
    var (id, report): (SnapshotID?, ReportID?)
    var (size, recordingCount): (Int64?, Int64?)
    var sha256: ContentDigest?
    var (receivedAt, createdAt, expiresAt): (Date?, Date?, Date?)
    var verified: SnapshotRecord.Verification?
    var (application, device): (Manifest.Application?, Manifest.Device?)
    var modules: [Module]?
    var metadata: [String: String]?
    var identifiers: [String]?
    var attachedBy: String?
    var isPinned: Bool?
    try object { scanner, key throws(Failure) in
      switch key {
      case "id": id = try scanner.id()
      case "report": report = try scanner.report()
      case "size": size = try scanner.integer()
      case "sha256": sha256 = try scanner.digest()
      case "receivedAt": receivedAt = try scanner.time()
      case "verified": verified = SnapshotRecord.Verification(rawValue: try scanner.string())
      case "createdAt": createdAt = try scanner.time()
      case "application": application = try scanner.application()
      case "device": device = try scanner.device()
      case "modules":
        modules = try scanner.list { json throws(Failure) in try json.module { _ in true } }
      case "recordingCount": recordingCount = try scanner.integer()
      case "metadata": metadata = try scanner.texts()
      case "identifiers":
        identifiers = try scanner.optional { json throws(Failure) in
          try json.list { json throws(Failure) in try json.string() }
        }
      case "attachedBy": attachedBy = try scanner.optional { json throws(Failure) in try json.string() }
      case "expiresAt": expiresAt = try scanner.optional { json throws(Failure) in try json.time() }
      case "pinned": isPinned = try scanner.optional { json throws(Failure) in try json.boolean() }
      default: return false
      }
      return true
    }
    guard let id, let report, let size, let sha256, let receivedAt, let verified, let createdAt,
      let application, let device, let modules, let recordingCount, let metadata
    else { throw .problem(ManifestProblem(.missing)) }
    var record = SnapshotRecord(
      id: id, report: report, size: size, sha256: sha256, receivedAt: receivedAt, verified: verified,
      manifest: Manifest(
        id: id, createdAt: createdAt, application: application, device: device, modules: modules),
      metadata: metadata, attachedBy: attachedBy, expiresAt: expiresAt)
    record.recordingCount = Int(clamping: recordingCount)
    record.identifiers = identifiers
    record.isPinned = isPinned == true
    return record
  }

  private mutating func list<Element>(
    _ element: (inout Self) throws(Failure) -> Element
  ) throws(Failure) -> [Element] {
    var list: [Element] = []
    try array { scanner throws(Failure) in list.append(try element(&scanner)) }
    return list
  }

  /// An object of texts under keys of any name.
  private mutating func texts() throws(Failure) -> [String: String] {
    var texts: [String: String] = [:]
    try object { scanner, key throws(Failure) in
      texts[key] = try scanner.string()
      return true
    }
    return texts
  }

  private mutating func boolean() throws(Failure) -> Bool {
    switch try next() {
    case .boolean(let value): return value
    case .null: throw .problem(ManifestProblem(.null))
    default: throw .problem(ManifestProblem(.mismatch("true or false")))
    }
  }
}
