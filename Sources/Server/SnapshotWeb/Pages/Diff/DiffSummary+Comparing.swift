import SnapshotAPI
import SnapshotDiff
import SnapshotFormat

extension ComparisonLimits {
  /// Limits for listing the differences of two snapshots on a page: some seconds, and memory for the largest pair of
  /// recordings and 6 million values in each: about 500 MB, for any contents. Small recordings are compared first.
  static let list = {
    var limits = ComparisonLimits()
    limits.recordingBytes = 64 << 20
    limits.totalBytes = 256 << 20
    limits.values = 6_000_000
    limits.depth = 64
    limits.changes = 10
    limits.totalChanges = 500
    limits.listed = PageLimits.rows + 1
    limits.excerptLength = 120
    limits.keyLength = 200
    limits.duration = .seconds(2)
    return limits
  }()

  /// The number of bytes from which on a comparison is large. Only one of these is made at a time.
  static let large: Int64 = 32 << 20

  /// Limits for comparing one recording or file on a page: memory as for a list.
  static let item = {
    var limits = ComparisonLimits()
    limits.recordingBytes = 64 << 20
    limits.values = 6_000_000
    limits.changes = 100
    limits.excerptLength = 1000
    limits.keyLength = 1000
    return limits
  }()
}

extension DiffSummary {
  /// Compares two bundles, within the limits of one page. Blocks for the disk.
  ///
  /// - Parameters:
  ///   - modules: the modules of both snapshots, in the order in which to list their differences.
  ///   - selection: the page.
  ///   - clock: measures the time that the comparison is allowed to take.
  init(
    _ first: CheckedBundle, _ second: CheckedBundle, modules: [Module],
    selection: ComparisonSelection = ComparisonSelection(), limits: ComparisonLimits = .list,
    clock: some Clock<Duration> = ContinuousClock()
  ) throws(BundleError) {
    let comparison = try SnapshotComparison(first, second, limits: limits, selection: selection, clock: clock)
    let kinds =
      comparison.changed.map(Entry.Kind.changed) + comparison.removed.map(Entry.Kind.removed)
      + comparison.added.map(Entry.Kind.added)
    let listed = kinds.sorted { $0.place < $1.place }
    let page = listed.prefix(PageLimits.rows)
    let places = ModulePlaces(modules)
    let entries = page.map { (places.first(wanting: $0.place.identifier), $0) }
    let sorted = entries.indices.sorted { (entries[$0].0 ?? .max, $0) < (entries[$1].0 ?? .max, $1) }
    let counts = Counts(
      added: comparison.counts.added, removed: comparison.counts.removed, changed: comparison.counts.changed,
      omitted: comparison.counts.omitted, alike: comparison.alike, files: comparison.counts.files)
    let files = comparison.files.prefix(PageLimits.rows)
    self.init(
      facts: selection.recordingsAfter == nil && selection.filesAfter == nil ? comparison.facts : [],
      counts: counts,
      recordings: sorted.map { Entry(module: entries[$0].0.map { modules[$0].name }, entries[$0].1) },
      next: listed.count > page.count ? page.last?.place : nil,
      files: Array(files), nextFile: comparison.files.count > files.count ? files.last?.place : nil)
  }
}

extension DiffSummary {
  /// About how many bytes of recordings a comparison reads. Blocks for the disk.
  static func size(
    of selection: ComparisonSelection, _ first: CheckedBundle, _ second: CheckedBundle
  ) throws(BundleError) -> Int64 {
    var limits = ComparisonLimits.list
    limits.totalBytes = 0
    let comparison = try SnapshotComparison(first, second, limits: limits, selection: selection)
    let sizes = comparison.changed.map { ($0.first.size, $0.second.size) }
    let compared = sizes.filter { max($0.0, $0.1) <= Int64(limits.recordingBytes) }
    return min(compared.reduce(0) { $0 + $1.0 + $1.1 }, ComparisonLimits.list.totalBytes)
  }
}

extension DiffItem {
  /// Compares one recording or file of two bundles, within the limits of one page. Blocks for the disk.
  ///
  /// - Parameter skipped: the number of changes before the first one on the page.
  init(
    _ item: DiffSelection.Item, _ first: CheckedBundle, _ second: CheckedBundle, filter: ComparisonFilter,
    skipping skipped: Int = 0, limits: ComparisonLimits = .item
  ) throws(BundleError) {
    var limits = limits
    limits.skippedChanges = skipped
    let (one, other) = (try Self.version(item, in: first), try Self.version(item, in: second))
    self.init(first: one?.version, second: other?.version, detail: nil)
    guard let one, let other else { return }
    guard max(one.version.size, other.version.size) <= Int64(limits.recordingBytes) else {
      detail = .beyondLimits
      return
    }
    let (bytes, otherBytes) = (try one.entry.contents(), try other.entry.contents())
    guard bytes != otherBytes else { return }
    let detail = RecordingDifference.Detail(
      bytes, otherBytes, limits: limits, limit: limits.changes, filter: filter)
    self.detail = detail
    switch detail {
    case .text:
      lines = TextComparison(bytes, otherBytes, limits: limits, limit: limits.changes)?.rows() ?? []
    case .bytes:
      if let first = try FileHead(one.entry).image(at: one.version.path),
        let second = try FileHead(other.entry).image(at: other.version.path)
      {
        images = Images(first: first, second: second)
      }
    case .json, .omitted, .beyondLimits: break
    }
  }

  /// The number of bytes of an item in both bundles. Blocks for the disk.
  static func size(
    of item: DiffSelection.Item, _ first: CheckedBundle, _ second: CheckedBundle
  ) throws(BundleError) -> Int64 {
    try (Self.version(item, in: first)?.version.size ?? 0)
      + (Self.version(item, in: second)?.version.size ?? 0)
  }

  /// Finds an item in a bundle; `nil` if that does not have it.
  private static func version(
    _ item: DiffSelection.Item, in bundle: CheckedBundle
  ) throws(BundleError) -> (version: Version, entry: CheckedBundle.Entry)? {
    let path: String
    switch item {
    case .recording(let place):
      var found: String?
      try bundle.readRecordings { recording in
        if ComparisonSelection.Place(recording) == place { found = recording.path }
        return found == nil
      }
      guard let found else { return nil }
      path = found
    case .file(let name): path = name
    }
    guard let entry = try bundle.entry(at: path) else { return nil }
    return (Version(path: path, size: entry.size), entry)
  }
}

extension CheckedBundle.Entry {
  fileprivate func contents() throws(BundleError) -> [UInt8] {
    let next = try pieces()
    var bytes: [UInt8] = []
    while let piece = try next() { bytes += piece }
    return bytes
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
  fileprivate var place: ComparisonSelection.Place {
    switch self {
    case .added(let recording), .removed(let recording): .init(recording)
    case .changed(let difference): .init(difference.second)
    }
  }
}
