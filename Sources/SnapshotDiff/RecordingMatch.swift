import SnapshotFormat
import ZipArchive

/// Which recordings of two snapshots are the same ones: those that share identifier and call.
///
/// The manifests are read, the first one once more as far as is needed, and not kept: a manifest may be as large as 32 MB.
/// Of its recordings only hashes are, in some thirty bytes for each.
struct RecordingMatch {
  typealias Pair = (first: Manifest.Recording, second: Manifest.Recording)

  /// What the snapshots say of themselves, without their recordings.
  let manifests: (first: Manifest, second: Manifest)
  private(set) var added: BoundedList<Manifest.Recording>
  private(set) var removed: BoundedList<Manifest.Recording>
  /// How many are there with the same bytes, and with others.
  private(set) var alike = 0
  let changedCount: Int
  /// The first of those with other bytes, by identifier and call.
  let changed: [Pair]

  init(
    _ first: some ReadableSnapshot, _ second: some ReadableSnapshot, limits: ComparisonLimits
  ) throws(BundleError) {
    added = BoundedList(limit: limits.listed, by: Key.isBefore)
    removed = BoundedList(limit: limits.listed, by: Key.isBefore)
    var changed = BoundedList(limit: limits.listed, by: Key.isBefore)
    var alike = 0

    var (keys, contents) = (HashTable(), HashTable())
    let manifest = try first.readManifest { recording in
      keys.mark(Key(recording).hashValue, as: Self.unmatched)
      contents.mark(Content(recording).hashValue)
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
      if contents.mark(of: Content(recording).hashValue) != nil {
        alike += 1
      } else {
        changed.append(recording)
      }
    }
    self.added = added
    self.alike = alike
    manifests = (manifest, otherManifest)
    changedCount = changed.count

    var others = Dictionary(uniqueKeysWithValues: changed.rows.map { (Key($0), $0) })
    var pairs: [Pair] = []
    if !others.isEmpty || unmatched > 0 {
      var removed = removed
      try first.readRecordings { recording in
        if keys.mark(of: Key(recording).hashValue) == Self.unmatched {
          removed.append(recording)
          unmatched -= 1
        } else if let other = others.removeValue(forKey: Key(recording)) {
          pairs.append((recording, other))
        }
        return !others.isEmpty || unmatched > 0
      }
      self.removed = removed
    }
    self.changed = pairs.sorted { Key.isBefore($0.first, $1.first) }
  }

  /// The marks of the first snapshot's recordings: whether the second has the same one.
  private static let (unmatched, matched) = (UInt8(0), UInt8(1))

  /// What two recordings share that are the same one with the same bytes.
  private struct Content: Hashable {
    let key: Key
    let digest: ContentDigest

    init(_ recording: Manifest.Recording) {
      key = Key(recording)
      digest = recording.sha256
    }
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
