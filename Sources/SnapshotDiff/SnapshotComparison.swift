public import SnapshotFormat

/// What differs between two snapshots: what they say of themselves, their recordings and their other files.
///
/// Not compared is what differs in any two: their ids, and when they and their recordings were made. Of recordings
/// that share identifier and call only those are read whose digests differ.
public struct SnapshotComparison: Sendable {
  /// Something that a snapshot says of itself.
  public enum Fact: Hashable, Sendable {
    /// The identifier, the version or the build of the app.
    case application, version, build
    /// What the app ran on.
    case device, system, locale
    /// The names of the redaction rules that ran.
    case redactions
    /// The identifiers that the module of this name wants.
    case module(String)
  }

  /// What the snapshots say of themselves that is not the same.
  public let facts: [Change<Fact>]
  /// The recordings that only the second has, by identifier and call.
  public let added: [Manifest.Recording]
  /// The recordings that only the first has, in the same order.
  public let removed: [Manifest.Recording]
  /// The recordings that both have with other bytes, in the same order.
  public let changed: [RecordingDifference]
  /// How many recordings both have alike.
  public let alike: Int
  /// The attachments and files of the app's container that differ, by their names: what is told of them is their
  /// lengths in bytes.
  public let files: [Change<String>]

  /// Whether nothing differs.
  public var isEmpty: Bool {
    facts.isEmpty && added.isEmpty && removed.isEmpty && changed.isEmpty && files.isEmpty
  }

  /// Compares two snapshots. Blocks for the disk.
  /// - Throws: What reading a recording that differs throws: it is damaged, or the disk is.
  public init(
    _ first: OpenSnapshot, _ second: OpenSnapshot, limits: ComparisonLimits = .default
  ) throws(BundleError) {
    facts = Self.facts(first.manifest, second.manifest)
    var others = Dictionary(uniqueKeysWithValues: second.manifest.recordings.map { (Key($0), $0) })
    var removed: [Manifest.Recording] = []
    var changed: [RecordingDifference] = []
    var alike = 0
    var budget = Budget(limits)
    for recording in first.manifest.recordings.sorted(by: Key.isBefore) {
      guard let other = others.removeValue(forKey: Key(recording)) else {
        removed.append(recording)
        continue
      }
      if recording.sha256 == other.sha256 {
        alike += 1
        continue
      }
      var detail = RecordingDifference.Detail.beyondLimits
      if let limit = budget.take(recording.size, other.size) {
        detail = .init(
          try first.contents(of: recording), try second.contents(of: other), limits: limits, limit: limit)
        budget.told(detail.changeCount)
      }
      changed.append(RecordingDifference(first: recording, second: other, detail: detail))
    }
    added = others.values.sorted(by: Key.isBefore)
    self.removed = removed
    self.changed = changed
    self.alike = alike
    files = try Self.files(first, second)
  }

  /// What two recordings share that are the same one.
  private struct Key: Hashable {
    let identifier: String
    let call: Int

    init(_ recording: Manifest.Recording) {
      identifier = recording.identifier
      call = recording.call ?? 0
    }

    static func isBefore(_ first: Manifest.Recording, _ second: Manifest.Recording) -> Bool {
      (first.identifier, first.call ?? 0) < (second.identifier, second.call ?? 0)
    }
  }

  /// What may still be read and told.
  private struct Budget {
    private let limits: ComparisonLimits
    private var bytes: Int64
    private var changes: Int

    init(_ limits: ComparisonLimits) {
      self.limits = limits
      bytes = limits.totalBytes
      changes = limits.totalChanges
    }

    /// How many changes may be told of recordings of these sizes; `nil` where they are not to be read.
    mutating func take(_ first: Int64, _ second: Int64) -> Int? {
      guard max(first, second) <= Int64(limits.recordingBytes), first + second <= bytes, changes > 0 else {
        return nil
      }
      bytes -= first + second
      return min(limits.changes, changes)
    }

    mutating func told(_ count: Int) { changes -= count }
  }

  private static func facts(_ first: Manifest, _ second: Manifest) -> [Change<Fact>] {
    var facts: [Change<Fact>] = []
    func compare(_ fact: Fact, _ one: String?, _ other: String?) {
      if one != other { facts.append(Change(place: fact, first: one, second: other)) }
    }
    compare(.application, first.application.identifier, second.application.identifier)
    compare(.version, first.application.version, second.application.version)
    compare(.build, first.application.build, second.application.build)
    compare(.device, first.device.model, second.device.model)
    compare(
      .system, "\(first.device.system) \(first.device.systemVersion)",
      "\(second.device.system) \(second.device.systemVersion)")
    compare(.locale, first.device.locale, second.device.locale)
    compare(
      .redactions, first.redactions.sorted().joined(separator: ", "),
      second.redactions.sorted().joined(separator: ", "))
    let (modules, otherModules) = (files(ofModules: first), files(ofModules: second))
    for name in Set(modules.keys).union(otherModules.keys).sorted() {
      compare(.module(name), modules[name], otherModules[name])
    }
    return facts
  }

  /// What each module wants. One that is there twice wants all that it wants anywhere.
  private static func files(ofModules manifest: Manifest) -> [String: String] {
    let files = manifest.modules.reduce(into: [String: Set<String>]()) {
      $0[$1.name, default: []].formUnion($1.files)
    }
    return files.mapValues { $0.sorted().joined(separator: ", ") }
  }

  private static func files(
    _ first: OpenSnapshot, _ second: OpenSnapshot
  ) throws(BundleError) -> [Change<String>] {
    let others = members(of: second)
    let own = members(of: first)
    var files: [Change<String>] = []
    for name in Set(own.keys).union(others.keys).sorted() {
      let (member, other) = (own[name], others[name])
      if let member, let other, try areAlike(first, member, second, other) { continue }
      files.append(
        Change(place: name, first: member.map { "\($0.size)" }, second: other.map { "\($0.size)" }))
    }
    return files
  }

  private static func members(of snapshot: OpenSnapshot) -> [String: OpenSnapshot.Member] {
    let files = snapshot.members.filter { $0.isAttachment || $0.isAppData }
    return Dictionary(files.map { ($0.name, $0) }) { first, _ in first }
  }

  private static func areAlike(
    _ first: OpenSnapshot, _ member: OpenSnapshot.Member, _ second: OpenSnapshot,
    _ other: OpenSnapshot.Member
  ) throws(BundleError) -> Bool {
    guard member.size == other.size else { return false }
    if let checksum = member.crc32, let otherChecksum = other.crc32 { return checksum == otherChecksum }
    return try first.digest(of: member) == second.digest(of: other)
  }
}
