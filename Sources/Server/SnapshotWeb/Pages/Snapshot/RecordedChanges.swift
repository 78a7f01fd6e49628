import SnapshotDiff
import SnapshotFormat
import SnapshotStore

/// What changed in the recordings from one snapshot of a report to the next.
struct RecordedChanges: Sendable {
  /// The changed values, the most telling first.
  var values: [ValueChange]
  /// The identifiers of recordings that only the newer or only the older snapshot has, and of those that changed and are
  /// not JSON. Each list has only the first ones.
  var added: [String]
  var removed: [String]
  var others: [String]
  /// The number of differing recordings.
  var count: Int
  /// The paths of the changed recordings in the newer snapshot.
  var paths: [ComparisonSelection.Place: String]
}

extension ComparisonLimits {
  /// Limits for two snapshots of a timeline, which compares several: some ten milliseconds for usual contents.
  static let timeline = {
    var limits = ComparisonLimits()
    limits.recordingBytes = 2 << 20
    limits.totalBytes = 16 << 20
    limits.values = 200_000
    limits.depth = 64
    limits.changes = 40
    limits.totalChanges = 400
    limits.listed = PageLimits.rows
    limits.excerptLength = 60
    limits.keyLength = 80
    limits.duration = .milliseconds(100)
    return limits
  }()
}

extension RecordedChanges {
  /// The number of snapshots that are compared on a page, of bytes of their bundles, and the time for it.
  static let mostSnapshots = 9
  static let mostBytes: Int64 = 64 << 20
  static let duration = Duration.milliseconds(500)

  /// Compares each bundle with the one after it in the list, which was received before it, and orders the values by how
  /// rarely they changed in the other comparisons. Damaged bundles, and all after the time is up, are omitted. Blocks for
  /// the disk.
  /// - Parameter bundles: the bundles, newest first; `nil` for one that can't be opened.
  static func between(
    _ bundles: [StoredBundle?], filter: ComparisonFilter, clock: some Clock<Duration> = ContinuousClock()
  ) throws(StoreError) -> [SnapshotID: RecordedChanges] {
    let end = clock.now.advanced(by: duration)
    var comparisons: [(id: SnapshotID, comparison: SnapshotComparison)] = []
    for (newer, older) in zip(bundles, bundles.dropFirst()) {
      guard let newer, let older, clock.now < end else { continue }
      do {
        let comparison = try SnapshotComparison(
          CheckedBundle(older.file), CheckedBundle(newer.file), limits: .timeline,
          selection: ComparisonSelection(filter: filter), clock: clock)
        comparisons.append((newer.record.id, comparison))
      } catch {
        if case .system(let cause) = error { throw .system(cause) }
      }
    }
    let values = comparisons.map(\.comparison.values)
    var changes: [SnapshotID: RecordedChanges] = [:]
    for (index, (id, comparison)) in comparisons.enumerated() {
      var others = values
      others.remove(at: index)
      changes[id] = RecordedChanges(comparison, values: ChangeRanking(others).ranked(values[index]))
    }
    return changes
  }

  private init(_ comparison: SnapshotComparison, values: [ValueChange]) {
    let most = 3
    self.values = Array(values.prefix(SnapshotChanges.mostValues))
    added = comparison.added.prefix(most).map(\.identifier)
    removed = comparison.removed.prefix(most).map(\.identifier)
    let others = comparison.changed.filter { difference in
      switch difference.detail {
      case .json, .omitted: false
      case .text, .bytes, .beyondLimits: true
      }
    }
    self.others = others.prefix(most).map(\.second.identifier)
    count = comparison.counts.added + comparison.counts.removed + comparison.counts.changed
    let places = comparison.changed.map { (ComparisonSelection.Place($0.second), $0.second.path) }
    paths = Dictionary(places) { first, _ in first }
  }
}
