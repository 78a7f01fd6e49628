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

  /// How many recordings and files there are of each kind, whether they are told or not.
  public struct Counts: Sendable, Hashable {
    /// Recordings that only the second has.
    public var added = 0
    /// Recordings that only the first has.
    public var removed = 0
    /// Recordings that both have with other bytes.
    public var changed = 0
    /// Attachments and files of the app's container that differ.
    public var files = 0
  }

  /// What the snapshots say of themselves that is not the same.
  public let facts: [Change<Fact>]
  /// The recordings that only the second has, by identifier and call: the first of them, as far as the limits let more
  /// be told.
  public let added: [Manifest.Recording]
  /// The recordings that only the first has, in the same way.
  public let removed: [Manifest.Recording]
  /// The recordings that both have with other bytes, in the same way.
  public let changed: [RecordingDifference]
  /// How many recordings both have alike.
  public let alike: Int
  /// The attachments and files of the app's container that differ, by their names, in the same way: what is told of them
  /// is their lengths in bytes.
  public let files: [Change<String>]
  /// How many there are of each.
  public let counts: Counts

  /// Whether nothing differs.
  public var isEmpty: Bool { facts.isEmpty && counts == Counts() }

  /// Compares two snapshots. Blocks for the disk.
  ///
  /// Takes memory for what is told, for one pair of recordings, and some thirty bytes for each recording or file.
  /// - Parameter clock: What ``ComparisonLimits/duration`` is measured by.
  /// - Throws: What reading a recording that differs throws: it is damaged, or the disk is.
  public init(
    _ first: some ReadableSnapshot, _ second: some ReadableSnapshot, limits: ComparisonLimits = .default,
    clock: some Clock<Duration> = ContinuousClock()
  ) throws(BundleError) {
    let recordings = try RecordingMatch(first, second, limits: limits)
    facts = Self.facts(recordings.manifests.first, recordings.manifests.second)
    added = recordings.added.rows
    removed = recordings.removed
    alike = recordings.alike
    let pairs = recordings.changed
    let located = (
      try first.locating(Set(pairs.map(\.first.path))), try second.locating(Set(pairs.map(\.second.path)))
    )
    var budget = ComparisonBudget(limits, clock: clock)
    var changed: [RecordingDifference] = []
    for pair in pairs {
      var detail = RecordingDifference.Detail.beyondLimits
      if let limit = budget.take(pair.first.size, pair.second.size) {
        detail = .init(
          try located.0.contents(of: pair.first), try located.1.contents(of: pair.second), limits: limits,
          limit: limit)
        budget.told(detail.changeCount)
      }
      changed.append(RecordingDifference(first: pair.first, second: pair.second, detail: detail))
    }
    self.changed = changed
    let files = try FileMatch(first, second, limits: limits)
    self.files = files.changes
    counts = Counts(
      added: recordings.added.count, removed: recordings.removedCount, changed: recordings.changedCount,
      files: files.count)
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
}
