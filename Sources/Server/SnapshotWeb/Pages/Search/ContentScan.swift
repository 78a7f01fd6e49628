import SnapshotAPI
import SnapshotFormat
import SnapshotStore
import SnapshotViewer
import ZipArchive

/// Searches the files of bundles, one after the other, until it has reached a limit. Blocks for the disk.
///
/// The memory used does not depend on the bundles. A search that reached a limit says where it goes on.
struct ContentScan: Sendable {
  /// Limits of one request.
  struct Limits: Sendable, Hashable {
    /// How long the search goes on, in seconds. A file is not begun after that; the first one ends then too.
    var seconds = 1.5
    /// The number of bytes after which no other file is begun.
    var bytes: Int64 = 1 << 30
    /// The number of files in which something was found after which no other file is begun.
    var found = 40
    /// The maximum number of names of files that are listed because they were not searched.
    var names = 5

    /// The default limits.
    static let `default` = Limits()
  }

  private let search: ContentSearch
  private let limits: Limits
  private let end: ContinuousClock.Instant
  private var bytes: Int64 = 0
  private var found = 0
  private var hasBegun = false

  /// Starts a search. Its time begins now.
  init(_ query: ContentQuery, limits: Limits = .default) {
    search = ContentSearch(query)
    self.limits = limits
    end = .now + .seconds(limits.seconds)
  }

  /// Searches the files of a bundle from the number `from` on.
  /// - Returns: What was found, and the number of the file at which the search goes on; `nil` if it is complete.
  mutating func search(
    _ bundle: StoredBundle, from: Int
  ) throws(StoreError) -> (SearchedSnapshot, next: Int?) {
    var result = SearchedSnapshot(record: bundle.record)
    var next: Int?
    do {
      let directory = try ZipDirectory(bundle.file)
      result.fileCount = directory.count
      var listing = directory.listing
      var number = 0
      while number < from, try listing.next() != nil { number += 1 }
      while next == nil {
        if isOver {
          next = number < directory.count ? number : nil
          break
        }
        guard let entry = try listing.nextEntry() else { break }
        if try search(entry, of: bundle, &result) { number += 1 } else { next = number }
      }
    } catch {
      guard case .damaged = StoreError(reading: error) else { throw StoreError(reading: error) }
      result.isDamaged = true
    }
    try name(&result, bundle)
    result.files.sort { $0.findings.rarity < $1.findings.rarity }
    return (result, next)
  }

  /// Whether no other file is begun.
  var isOver: Bool {
    hasBegun && (bytes >= limits.bytes || found >= limits.found || ContinuousClock.now >= end)
  }

  /// Searches a file. Returns `false` if it has to be searched again from its beginning, with more time.
  private mutating func search(
    _ entry: ZipEntry, of bundle: StoredBundle, _ result: inout SearchedSnapshot
  ) throws(ZipError) -> Bool {
    guard !entry.isFolder, entry.name != "manifest.json" else { return true }
    guard entry.isReadable else {
      result.binaryFiles += 1
      return true
    }
    let isFirst = !hasBegun
    hasBegun = true
    let (archive, end) = (bundle.file, end)
    let outcome: ContentSearch.Outcome
    do {
      outcome = try search.search(size: entry.size, isOver: { ContinuousClock.now >= end }) {
        let contents = try ZipContents(archive, entry)
        return { try contents.next() }
      }
    } catch let error as ZipError {
      guard case .damaged = StoreError(reading: error) else { throw error }
      result.damagedCount += 1
      if result.damagedFiles.count < limits.names { result.damagedFiles.append(entry.name) }
      return true
    } catch {
      // Only reading the archive throws.
      return true
    }
    if case .unfinished = outcome, !isFirst { return false }
    bytes += entry.size
    switch outcome {
    case .searched(let findings): add(entry, findings, share: 1, &result)
    case .unfinished(let findings, let share): add(entry, findings, share: share, &result)
    case .binary: result.binaryFiles += 1
    case .tooLarge:
      result.largeCount += 1
      if result.largeFiles.count < limits.names { result.largeFiles.append(entry.name) }
    }
    return true
  }

  private mutating func add(
    _ entry: ZipEntry, _ findings: ContentFindings, share: Double, _ result: inout SearchedSnapshot
  ) {
    result.searchedFiles += 1
    result.searchedBytes += entry.size
    guard !findings.isEmpty || share < 1 else { return }
    if !findings.isEmpty { found += 1 }
    result.files.append(.init(path: entry.name, size: entry.size, findings: findings, share: share))
  }

  /// Finds the manifest's entries for the recordings in which something was found.
  private func name(_ result: inout SearchedSnapshot, _ bundle: StoredBundle) throws(StoreError) {
    let places = Dictionary(result.files.enumerated().map { ($1.path, $0) }) { first, _ in first }
    guard !places.isEmpty else { return }
    var files = result.files
    do {
      _ = try CheckedBundle(bundle.file).readManifest { recording in
        if let place = places[recording.path] { files[place].recording = recording }
      }
    } catch {
      if case .system(let cause) = error { throw .system(cause) }
      // Without their identifiers, the files are shown by their paths.
      result.isDamaged = true
    }
    result.files = files
  }
}
