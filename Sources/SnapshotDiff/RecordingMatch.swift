import SnapshotFormat

/// Which recordings of two snapshots are the same ones: those that share identifier and call.
///
/// The manifests are read, twice the first one, and not kept: a manifest may be as large as 32 MB.
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

    // Hashes, seeded anew in every process: alike for two that differ by chance only, once in 2⁶⁴.
    var digests: [Int: Int] = [:]
    let manifest = try first.readManifest { digests[Key($0).hashValue] = $0.sha256.hashValue }
    var added = added
    let otherManifest = try second.readManifest { recording in
      guard let digest = digests.removeValue(forKey: Key(recording).hashValue) else {
        added.append(recording)
        return
      }
      if digest == recording.sha256.hashValue { alike += 1 } else { changed.append(recording) }
    }
    self.added = added
    self.alike = alike
    manifests = (manifest, otherManifest)
    changedCount = changed.count

    var others = Dictionary(uniqueKeysWithValues: changed.rows.map { (Key($0), $0) })
    var pairs: [Pair] = []
    if !others.isEmpty || !digests.isEmpty {
      var removed = removed
      _ = try first.readManifest { recording in
        if digests[Key(recording).hashValue] != nil {
          removed.append(recording)
        } else if let other = others.removeValue(forKey: Key(recording)) {
          pairs.append((recording, other))
        }
      }
      self.removed = removed
    }
    self.changed = pairs.sorted { Key.isBefore($0.first, $1.first) }
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
