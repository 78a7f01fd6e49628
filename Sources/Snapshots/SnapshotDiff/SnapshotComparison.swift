public import SnapshotFormat

/// The differences between two snapshots: their descriptions, their recordings and their other files.
///
/// Identifiers and times of creation and recording always differ and are not compared. Recordings with the same
/// identifier and call are only read if their digests differ.
public struct SnapshotComparison: Sendable {
  /// A property in the description of a snapshot.
  public enum Fact: Hashable, Sendable {
    /// The identifier, version and build of the app.
    case application, version, build
    /// The device, its operating system and locale.
    case device, system, locale
    /// The names of the redaction rules that were applied.
    case redactions
    /// The identifiers that the module with this name expects.
    case module(String)
  }

  /// The numbers of differing recordings and files, including those that are not reported.
  public struct Counts: Sendable, Hashable {
    /// The recordings that only the second snapshot has.
    public var added = 0
    /// The recordings that only the first snapshot has.
    public var removed = 0
    /// The recordings that both snapshots have, with different contents. Those that were compared and differ only in
    /// values that the filter omits do not count.
    public var changed = 0
    /// The recordings that were compared and differ only in values that the filter omits.
    public var omitted = 0
    /// The differing attachments and files of the app's container.
    public var files = 0
  }

  /// The differences between the descriptions of the snapshots.
  public let facts: [Change<Fact>]
  /// The recordings that only the second snapshot has, by identifier and call. If there are more than the limits allow,
  /// only the first ones.
  public let added: [Manifest.Recording]
  /// The recordings that only the first snapshot has, in the same order and within the same limits.
  public let removed: [Manifest.Recording]
  /// The recordings that both snapshots have with different contents, in the same order and within the same limits. One
  /// that differs only in values that the filter omits is contained, with the detail `omitted`.
  public let changed: [RecordingDifference]
  /// The number of recordings with the same contents in both snapshots.
  public let alike: Int
  /// The differing attachments and files of the app's container, by name and within the same limits. The texts of a
  /// change are the lengths in bytes.
  public let files: [Change<String>]
  /// The total numbers, independent of the limits.
  public let counts: Counts

  /// Whether there are no differences, except values that the filter omits.
  public var isEmpty: Bool {
    facts.isEmpty && counts.added + counts.removed + counts.changed + counts.files == 0
  }

  /// Compares two snapshots. Blocks the calling thread while reading files.
  ///
  /// Takes memory for the result, for one pair of recordings, and about thirty bytes for each recording or file.
  /// - Parameters:
  ///   - first: The snapshot whose recordings count as removed if `second` does not contain them.
  ///   - second: The snapshot whose recordings count as added if `first` does not contain them.
  ///   - limits: The limits on memory, time and the number of reported changes.
  ///   - selection: The reported differences, and the values that are not compared.
  ///   - clock: The clock for ``ComparisonLimits/duration``.
  /// - Throws: An error from reading a manifest or a differing recording, if it is damaged or the disk fails.
  public init(
    _ first: some ReadableSnapshot, _ second: some ReadableSnapshot, limits: ComparisonLimits = .default,
    selection: ComparisonSelection = ComparisonSelection(), clock: some Clock<Duration> = ContinuousClock()
  ) throws(BundleError) {
    let recordings = try RecordingMatch(first, second, limits: limits, selection: selection)
    facts =
      selection.identifier == nil ? Self.facts(recordings.manifests.first, recordings.manifests.second) : []
    added = recordings.added.rows
    removed = recordings.removed
    alike = recordings.alike
    let pairs = recordings.changed
    let located = (
      try first.locating(Set(pairs.map(\.first.path))), try second.locating(Set(pairs.map(\.second.path)))
    )
    var budget = ComparisonBudget(limits, clock: clock)
    var changed = pairs.map {
      RecordingDifference(first: $0.first, second: $0.second, detail: .beyondLimits)
    }
    // The smallest first, so that a large one does not use up the limits for all others.
    let order = pairs.indices.sorted {
      (pairs[$0].first.size + pairs[$0].second.size, $0) < (pairs[$1].first.size + pairs[$1].second.size, $1)
    }
    for index in order {
      let pair = pairs[index]
      var detail = RecordingDifference.Detail.beyondLimits
      if let limit = budget.take(pair.first.size, pair.second.size) {
        detail = .init(
          try located.0.contents(of: pair.first), try located.1.contents(of: pair.second), limits: limits,
          limit: limit, filter: selection.filter)
        budget.told(detail.reportedCount)
      }
      changed[index] = RecordingDifference(first: pair.first, second: pair.second, detail: detail)
    }
    self.changed = changed
    let omitted = changed.count { $0.detail == .omitted }
    let files = try FileMatch(first, second, limits: limits, selection: selection)
    self.files = files.changes
    counts = Counts(
      added: recordings.added.count, removed: recordings.removedCount,
      changed: recordings.changedCount - omitted, omitted: omitted, files: files.count)
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

  /// The expected identifiers of each module. If a module occurs twice, the union of both.
  private static func files(ofModules manifest: Manifest) -> [String: String] {
    let files = manifest.modules.reduce(into: [String: Set<String>]()) {
      $0[$1.name, default: []].formUnion($1.files)
    }
    return files.mapValues { $0.sorted().joined(separator: ", ") }
  }
}

extension SnapshotComparison.Fact: CustomStringConvertible {
  /// A single word; for a module, followed by its name.
  public var description: String {
    switch self {
    case .application: "application"
    case .version: "version"
    case .build: "build"
    case .device: "device"
    case .system: "system"
    case .locale: "locale"
    case .redactions: "redactions"
    case .module(let name): "module \(name)"
    }
  }
}
