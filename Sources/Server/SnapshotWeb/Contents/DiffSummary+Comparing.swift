import SnapshotAPI
package import SnapshotDiff
package import SnapshotFormat

extension ComparisonLimits {
  /// Limits for comparing two snapshots on a page: less than a second and about 20 MB of memory, for any contents.
  package static let page = {
    var limits = ComparisonLimits()
    limits.recordingBytes = 2 << 20
    limits.totalBytes = 16 << 20
    limits.values = 100_000
    limits.depth = 64
    limits.changes = 20
    limits.totalChanges = 200
    limits.listed = PageLimits.rows
    limits.excerptLength = 80
    limits.keyLength = 40
    limits.duration = .milliseconds(400)
    return limits
  }()
}

extension DiffSummary {
  /// Compares two bundles, within the limits of one page. Blocks for the disk.
  ///
  /// Lists first the changed recordings, then the removed ones, then the added ones.
  ///
  /// - Parameters:
  ///   - modules: the modules of both snapshots, in the order in which to list their differences.
  ///   - clock: measures the time that the comparison is allowed to take.
  package init(
    _ first: CheckedBundle, _ second: CheckedBundle, modules: [Module], limits: ComparisonLimits = .page,
    clock: some Clock<Duration> = ContinuousClock()
  ) throws(BundleError) {
    let comparison = try SnapshotComparison(first, second, limits: limits, clock: clock)
    let kinds =
      comparison.changed.map(Entry.Kind.changed) + comparison.removed.map(Entry.Kind.removed)
      + comparison.added.map(Entry.Kind.added)
    let places = ModulePlaces(modules)
    let entries = kinds.prefix(PageLimits.rows).map { (places.first(wanting: $0.identifier), $0) }
    let sorted = entries.indices.sorted {
      (entries[$0].0 ?? .max, $0) < (entries[$1].0 ?? .max, $1)
    }
    let counts = Counts(
      added: comparison.counts.added, removed: comparison.counts.removed, changed: comparison.counts.changed,
      alike: comparison.alike, files: comparison.counts.files)
    self.init(
      facts: Array(comparison.facts.prefix(PageLimits.rows)), counts: counts,
      recordings: sorted.map { Entry(module: entries[$0].0.map { modules[$0].name }, entries[$0].1) },
      files: comparison.files, cut: Self.cut(comparison))
  }

  private static func cut(_ comparison: SnapshotComparison) -> String? {
    let counts = comparison.counts
    let isListed =
      counts.added + counts.removed + counts.changed <= PageLimits.rows
      && comparison.facts.count <= PageLimits.rows && counts.files <= PageLimits.rows
    let isCompared = comparison.changed.allSatisfy { difference in
      switch difference.detail {
      case .json(_, let isComplete), .text(_, let isComplete): isComplete
      case .bytes: true
      case .beyondLimits: false
      }
    }
    if isListed, isCompared { return nil }
    return "The page shows only a part of the differences; `snapshot diff` shows all of them."
  }
}

/// The first module that declares each identifier.
private struct ModulePlaces {
  private var places: [String: Int] = [:]

  init(_ modules: [Module]) {
    for (index, module) in modules.enumerated() {
      for file in module.files where places[file] == nil { places[file] = index }
    }
  }

  func first(wanting identifier: String) -> Int? { places[identifier] }
}

extension DiffSummary.Entry.Kind {
  fileprivate var identifier: String {
    switch self {
    case .added(let recording), .removed(let recording): recording.identifier
    case .changed(let difference): difference.second.identifier
    }
  }
}
