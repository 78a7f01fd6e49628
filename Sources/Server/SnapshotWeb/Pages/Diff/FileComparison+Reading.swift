import JSONText
import SnapshotAPI
import SnapshotDiff
import SnapshotFormat
import SnapshotStore
import SnapshotViewer
import ZipArchive

extension FileComparison {
  /// Compares what `page` shows of the file `entry` in `bundle` with the same file in the bundle `other`. Blocks for the
  /// disk.
  init(
    of page: PreviewPage, _ entry: ZipEntry, in bundle: StoredBundle, with other: StoredBundle,
    filter: ComparisonFilter, cache: ViewerCache
  ) throws {
    self.init(other: other.record, path: nil, outcome: .missing)
    guard let found = try Self.counterpart(of: page, in: other) else { return }
    path = found.entry.name
    let isIdentical =
      if let recording = page.recording, let counterpart = found.recording {
        recording.sha256 == counterpart.sha256
      } else {
        entry.size == found.entry.size && entry.crc32 == found.entry.crc32
      }
    guard !isIdentical else {
      outcome = .identical
      return
    }
    outcome = .different
    guard case .outline(let outline) = page.preview.content, page.preview.decoded == nil else { return }
    let file = try cache.file(entry.name, entry, of: bundle.file, bundle.record.sha256)
    let counterpart = try cache.file(
      found.entry.name, found.entry, of: other.file, other.record.sha256)
    guard let document = file.document, let otherDocument = counterpart.document else { return }
    outcome = .marked(try ValueMarks(outline, of: document, in: otherDocument, filter: filter))
    changes = try Self.changes(from: otherDocument, to: document, filter)
  }

  /// Compares whole documents, if they are small enough.
  private static func changes(
    from other: JSONView, to own: JSONView, _ filter: ComparisonFilter
  ) throws -> Changes<JSONPath>? {
    let limits = ComparisonLimits.timeline
    guard let first = try other.source(of: other.root, limit: limits.recordingBytes),
      let second = try own.source(of: own.root, limit: limits.recordingBytes),
      case .json(let changes) = RecordingDifference.Detail(
        first, second, limits: limits, limit: SnapshotChanges.mostValues, filter: filter)
    else { return nil }
    return changes
  }

  /// Finds the recording with the same identifier and call, or the other file of the same name.
  private static func counterpart(
    of page: PreviewPage, in other: StoredBundle
  ) throws -> (entry: ZipEntry, recording: Manifest.Recording?)? {
    var path = page.path
    var recording: Manifest.Recording?
    if let own = page.recording {
      let place = ComparisonSelection.Place(own)
      try CheckedBundle(other.file).readRecordings { candidate in
        if ComparisonSelection.Place(candidate) == place { recording = candidate }
        return recording == nil
      }
      guard let recording else { return nil }
      path = recording.path
    }
    do {
      guard let entry = try ZipDirectory(other.file).entry(named: path), !entry.isFolder else { return nil }
      return (entry, recording)
    } catch {
      throw StoreError(reading: error)
    }
  }
}
