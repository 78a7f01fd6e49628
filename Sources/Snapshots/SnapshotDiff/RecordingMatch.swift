import SnapshotFormat
import ZipArchive

/// Which recordings of two snapshots are the same ones: those that share identifier and call.
///
/// The manifests are read, and not kept: a manifest may be as large as 32 MB. Of its recordings only hashes are, in some
/// thirty bytes for each, and, in their order, the first few of the first snapshot: where those are not enough to tell
/// from, its manifest is read once more, as far as is needed.
struct RecordingMatch {
  typealias Pair = (first: Manifest.Recording, second: Manifest.Recording)

  /// What the snapshots say of themselves, without their recordings.
  let manifests: (first: Manifest, second: Manifest)
  private(set) var added: BoundedList<Manifest.Recording>
  /// How many only the first has.
  let removedCount: Int
  /// The first of those, by identifier and call.
  let removed: [Manifest.Recording]
  /// How many are there with the same bytes, and with others.
  private(set) var alike = 0
  let changedCount: Int
  /// The first of those with other bytes, by identifier and call.
  let changed: [Pair]

  init(
    _ first: some ReadableSnapshot, _ second: some ReadableSnapshot, limits: ComparisonLimits
  ) throws(BundleError) {
    added = BoundedList(limit: limits.listed, by: Key.isBefore)
    var changed = BoundedList(limit: limits.listed, by: Key.isBefore)
    var alike = 0

    var (keys, contents) = (HashTable(), HashTable())
    var leading: BoundedList<Manifest.Recording>? = BoundedList(limit: Self.mostLeading, by: Key.isBefore)
    let manifest = try first.readManifest { recording in
      let key = Key(recording).hashValue
      keys.mark(key, as: Self.unmatched)
      contents.mark(Self.content(recording, under: key))
      if recording.identifier.utf8.count > Self.longestLeading { leading = nil }
      leading?.append(recording)
    }
    var added = added
    var unmatched = keys.count
    let otherManifest = try second.readManifest { recording in
      let key = Key(recording).hashValue
      guard keys.mark(of: key) == Self.unmatched else {
        added.append(recording)
        return
      }
      keys.mark(key, as: Self.matched)
      unmatched -= 1
      if contents.mark(of: Self.content(recording, under: key)) != nil {
        alike += 1
      } else {
        changed.append(recording)
      }
    }
    self.added = added
    self.alike = alike
    manifests = (manifest, otherManifest)
    changedCount = changed.count
    removedCount = unmatched

    var others = Dictionary(uniqueKeysWithValues: changed.rows.map { (Key($0), $0) })
    var pairs: [Pair] = []
    var removed = BoundedList(limit: limits.listed, by: Key.isBefore)
    func take(_ recording: Manifest.Recording) {
      if keys.mark(of: Key(recording).hashValue) == Self.unmatched {
        removed.append(recording)
      } else if let other = others.removeValue(forKey: Key(recording)) {
        pairs.append((recording, other))
      }
    }
    // What is told of are the first ones, which often are among these.
    for recording in leading?.rows ?? [] { take(recording) }
    if !others.isEmpty || removed.count < min(unmatched, limits.listed) {
      removed = BoundedList(limit: limits.listed, by: Key.isBefore)
      try first.readRecordings { recording in
        take(recording)
        return !others.isEmpty || removed.count < unmatched
      }
    }
    self.removed = removed.rows
    self.changed = pairs.sorted { Key.isBefore($0.first, $1.first) }
  }

  /// The most recordings of the first snapshot that are kept while the second is read: none where the identifier of one
  /// has more bytes than that, so that they take no more than a megabyte.
  private static let (mostLeading, longestLeading) = (500, 1024)

  /// The marks of the first snapshot's recordings: whether the second has the same one.
  private static let (unmatched, matched) = (UInt8(0), UInt8(1))

  /// The hash of what two recordings share that are the same one with the same bytes.
  /// - Parameter key: The hash of what they share that are the same one.
  private static func content(_ recording: Manifest.Recording, under key: Int) -> Int {
    var hasher = Hasher()
    hasher.combine(key)
    hasher.combine(recording.sha256)
    return hasher.finalize()
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
}
