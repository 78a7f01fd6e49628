import SnapshotFormat

extension BundleContents {
  /// Reads the data of one page about `bundle`. The memory used does not depend on the bundle's size. Blocks for the
  /// disk.
  ///
  /// - Parameter modules: the modules in the bundle's record.
  init(
    _ bundle: CheckedBundle, modules: [Module], selection: SnapshotPage.Selection
  ) throws(BundleError) {
    var recordings = RecordingPage(selection, modules: modules)
    let manifest = try bundle.readManifest { recordings.append($0) }
    var attachments = MemberPage(start: 0)
    var files = MemberPage(start: selection.files)
    try bundle.readExtras { member in
      if member.isAttachment { attachments.append(member) } else { files.append(member) }
    }
    let dropped = manifest.dropped
    self.init(
      formatVersion: manifest.formatVersion,
      redactions: Array(manifest.redactions.prefix(PageLimits.names)),
      redactionCount: manifest.redactions.count, recordingCount: recordings.count,
      recordingBytes: recordings.bytes, largestRecording: recordings.largest,
      modules: recordings.summaries(dropped), moduleCount: modules.count,
      dropped: PageSlice(Array(dropped.prefix(PageLimits.rows)), total: dropped.count),
      recordings: recordings.slice,
      attachments: try attachments.slice(showingPicturesOf: bundle), files: files.slice)
  }
}

/// Counts the recordings that are appended, and keeps those of one page.
private struct RecordingPage {
  private(set) var count = 0
  private(set) var bytes: Int64 = 0
  private(set) var largest: Int64 = 0

  private let start: Int
  private let modules: [Module]
  /// The identifiers that each module declares and that were not appended yet.
  private var missing: [Set<String>]
  private let wanted: [Int]
  /// The identifiers of the selected module; `nil` if all recordings are shown.
  private let selected: Set<String>?
  private var rows: [Manifest.Recording] = []
  private var total = 0

  init(_ selection: SnapshotPage.Selection, modules: [Module]) {
    start = max(0, selection.recordings)
    self.modules = Array(modules.prefix(PageLimits.modules))
    missing = self.modules.map { Set($0.files) }
    wanted = missing.map(\.count)
    selected = selection.module.map { name in
      modules.reduce(into: []) { if $1.name == name { $0.formUnion($1.files) } }
    }
  }

  mutating func append(_ recording: Manifest.Recording) {
    count += 1
    // The sizes in a manifest are untrusted and can overflow.
    bytes = bytes.addingReportingOverflow(recording.size).partialValue
    largest = max(largest, recording.size)
    for index in missing.indices { missing[index].remove(recording.identifier) }
    if let selected, !selected.contains(recording.identifier) { return }
    total += 1
    if total > start, rows.count < PageLimits.rows { rows.append(recording) }
  }

  var slice: PageSlice<Manifest.Recording> { PageSlice(rows, start: min(start, total), total: total) }

  func summaries(_ dropped: [Manifest.Dropped]) -> [ModuleSummary] {
    let reasons = Dictionary(dropped.map { ($0.identifier, $0.summary) }) { _, last in last }
    return modules.indices.map { index in
      var summary = ModuleSummary(
        name: modules[index].name, wanted: wanted[index], missing: missing[index].count,
        missingIdentifiers: Array(missing[index].sorted().prefix(PageLimits.names)))
      for identifier in summary.missingIdentifiers { summary.reasons[identifier] = reasons[identifier] }
      return summary
    }
  }
}

/// Counts the files that are appended, and keeps those of one page.
private struct MemberPage {
  private let start: Int
  private var rows: [SnapshotMember] = []
  private var total = 0

  init(start: Int) { self.start = max(0, start) }

  mutating func append(_ member: SnapshotMember) {
    total += 1
    if total > start, rows.count < PageLimits.rows { rows.append(member) }
  }

  var slice: PageSlice<FileEntry> {
    PageSlice(
      rows.map { FileEntry(path: $0.name, size: $0.size, isImage: false) }, start: min(start, total),
      total: total)
  }

  /// Returns the page. Checks for its first files with an image's name whether they are images.
  func slice(showingPicturesOf bundle: CheckedBundle) throws(BundleError) -> PageSlice<FileEntry> {
    var slice = slice
    let pictures = slice.rows.indices.filter { ImageHeader.isShown(path: slice.rows[$0].path) }
      .prefix(2 * PageLimits.pictures)
    guard !pictures.isEmpty else { return slice }
    let located = try bundle.locating(Set(pictures.map { slice.rows[$0].path }))
    for index in pictures {
      guard let entry = try located.entry(at: slice.rows[index].path) else { continue }
      slice.rows[index].isImage = try FileHead(entry).image(at: slice.rows[index].path) != nil
    }
    return slice
  }
}
