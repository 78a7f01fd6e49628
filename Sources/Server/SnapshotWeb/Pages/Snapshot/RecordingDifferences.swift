import SnapshotDiff
import SnapshotFormat

/// For the recordings of a list, whether they differ from those of another snapshot.
enum RecordingDifferences {
  /// The state of a recording.
  enum State: Sendable, Hashable {
    /// The other snapshot has the same contents, or values that the filter omits are the only difference.
    case same
    /// The contents differ, in this number of places; `nil` if they were not counted.
    case changed(Int?)
    /// The other snapshot does not have the recording.
    case added
  }

  /// The limits for counting: large recordings are only reported as changed.
  static let limits = ComparisonLimits.timeline

  /// Returns the state of each recording of `bundle` at one of `paths`, a page of a list, against the recording with the
  /// same identifier and call of `other`.
  ///
  /// Reads both manifests. Contents are only read if the digests differ and both are small, within ``limits`` for all.
  /// Blocks for the disk.
  static func of(
    _ paths: Set<String>, in bundle: CheckedBundle, comparedWith other: CheckedBundle,
    filter: ComparisonFilter = ComparisonFilter(), clock: some Clock<Duration> = ContinuousClock()
  ) throws(BundleError) -> [String: State] {
    var wanted: [ComparisonSelection.Place: Manifest.Recording] = [:]
    try bundle.readRecordings { recording in
      if paths.contains(recording.path) { wanted[.init(recording)] = recording }
      return wanted.count < paths.count
    }
    var states: [String: State] = [:]
    var changed: [(own: Manifest.Recording, other: Manifest.Recording)] = []
    try other.readRecordings { recording in
      guard let own = wanted.removeValue(forKey: .init(recording)) else { return true }
      if own.sha256 == recording.sha256 {
        states[own.path] = .same
      } else {
        states[own.path] = .changed(nil)
        changed.append((own, recording))
      }
      return !wanted.isEmpty
    }
    for recording in wanted.values { states[recording.path] = .added }
    var bytesLeft = limits.totalBytes
    let end = limits.duration.map { clock.now.advanced(by: $0) }
    changed.sort { $0.own.size + $0.other.size < $1.own.size + $1.other.size }
    for pair in changed {
      let size = pair.own.size + pair.other.size
      guard max(pair.own.size, pair.other.size) <= limits.recordingBytes, size <= bytesLeft,
        end.map({ clock.now < $0 }) ?? true
      else { break }
      bytesLeft -= size
      let detail = RecordingDifference.Detail(
        try other.contents(of: pair.other), try bundle.contents(of: pair.own), limits: limits, limit: 0,
        filter: filter)
      switch detail {
      case .json(let changes): states[pair.own.path] = .changed(changes.count)
      case .text(let changes): states[pair.own.path] = .changed(changes.count)
      case .omitted: states[pair.own.path] = .same
      case .bytes, .beyondLimits: break
      }
    }
    return states
  }
}
