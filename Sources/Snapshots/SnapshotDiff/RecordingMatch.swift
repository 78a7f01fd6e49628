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
    // Only the first recordings in order are reported, and these often include all of them.
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

  /// The properties by which recordings correspond.
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
