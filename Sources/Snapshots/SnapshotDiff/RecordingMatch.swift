import SnapshotFormat
import ZipArchive

/// Finds the recordings that correspond in two snapshots: those with the same identifier and call.
///
/// The manifests are streamed, because a manifest can have 32 MB. Of each recording, only hashes are kept, in about
/// thirty bytes, plus the first few recordings of the first snapshot in order. If these do not contain all recordings
/// to report, the first manifest is read a second time, up to the last one needed.
struct RecordingMatch {
  typealias Pair = (first: Manifest.Recording, second: Manifest.Recording)

  /// The manifests without their recordings.
  let manifests: (first: Manifest, second: Manifest)
  private(set) var added: BoundedList<Manifest.Recording>
  /// The number of recordings that only the first snapshot has.
  let removedCount: Int
  /// The first of these, by identifier and call.
  let removed: [Manifest.Recording]
  /// The number of recordings with the same contents in both snapshots, and with different contents.
  private(set) var alike = 0
  let changedCount: Int
  /// The first of those with different contents, by identifier and call.
  let changed: [Pair]

  init(
    _ first: some ReadableSnapshot, _ second: some ReadableSnapshot, limits: ComparisonLimits,
    selection: ComparisonSelection
  ) throws(BundleError) {
    var added = Self.list(limits.listed)
    var changed = Self.list(limits.listed)
    var alike = 0

    var (keys, contents) = (HashTable(), HashTable())
    var leading: BoundedList<Manifest.Recording>? = Self.list(Self.mostLeading)
    let manifest = try first.readManifest { recording in
      guard selection.compares(recording) else { return }
      let key = Place(recording).hashValue
      keys.mark(key, as: Self.unmatched)
      contents.mark(Self.content(recording, under: key))
      if recording.identifier.utf8.count > Self.longestLeading { leading = nil }
      if selection.recordingsAfter.map({ $0 < Place(recording) }) ?? true { leading?.append(recording) }
    }
    var unmatched = keys.count
    let otherManifest = try second.readManifest { recording in
      guard selection.compares(recording) else { return }
      let key = Place(recording).hashValue
      guard keys.mark(of: key) == Self.unmatched else {
        added.append(recording, isListed: selection.includes(recording, as: .added))
        return
      }
      keys.mark(key, as: Self.matched)
      unmatched -= 1
      if contents.mark(of: Self.content(recording, under: key)) != nil {
        alike += 1
      } else {
        changed.append(recording, isListed: selection.includes(recording, as: .changed))
      }
    }
    self.added = added
    self.alike = alike
    manifests = (manifest, otherManifest)
    changedCount = changed.count
    removedCount = unmatched

    var others = Dictionary(uniqueKeysWithValues: changed.rows.map { (Place($0), $0) })
    var pairs: [Pair] = []
    var removed = Self.list(limits.listed)
    func take(_ recording: Manifest.Recording) {
      if keys.mark(of: Place(recording).hashValue) == Self.unmatched {
        removed.append(recording, isListed: selection.includes(recording, as: .removed))
      } else if let other = others.removeValue(forKey: Place(recording)) {
        pairs.append((recording, other))
      }
    }
    // Only the first recordings in order are reported, and these often include all of them.
    for recording in leading?.rows ?? [] { take(recording) }
    let needsRemoved = selection.kinds.contains(.removed) && removed.count < min(unmatched, limits.listed)
    if !others.isEmpty || needsRemoved {
      removed = Self.list(limits.listed)
      try first.readRecordings { recording in
        take(recording)
        return !others.isEmpty || removed.count < unmatched
      }
    }
    self.removed = removed.rows
    self.changed = pairs.sorted { Place($0.first) < Place($1.first) }
  }

  private typealias Place = ComparisonSelection.Place

  private static func list(_ limit: Int) -> BoundedList<Manifest.Recording> {
    BoundedList(limit: limit) { Place($0) < Place($1) }
  }

  /// The number of recordings of the first snapshot that are kept while the second is read. None are kept if an
  /// identifier is longer than the second number, in bytes, so that they take at most about 1 MB.
  private static let (mostLeading, longestLeading) = (500, 1024)

  /// The marks of the first snapshot's recordings: whether the second snapshot contains the same recording.
  private static let (unmatched, matched) = (UInt8(0), UInt8(1))

  /// A hash that is equal for corresponding recordings with the same contents.
  /// - Parameter key: The hash of the recording's key.
  private static func content(_ recording: Manifest.Recording, under key: Int) -> Int {
    var hasher = Hasher()
    hasher.combine(key)
    hasher.combine(recording.sha256)
    return hasher.finalize()
  }
}
