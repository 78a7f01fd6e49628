import SnapshotFormat

extension BundleContents {
  /// Reads what the list shows of `bundle`. Blocks for the disk.
  ///
  /// - Parameter modules: the modules in the bundle's record.
  init(_ bundle: CheckedBundle, modules: [Module]) throws(BundleError) {
    var list = RecordingList(modules)
    let manifest = try bundle.readManifest { list.append($0) }
    let dropped = manifest.dropped
    self.init(
      formatVersion: manifest.formatVersion, redactions: Array(manifest.redactions.prefix(PageLimits.names)),
      redactionCount: manifest.redactions.count, modules: list.summaries(dropped),
      moduleCount: modules.count, dropped: dropped, recordings: list.recordings)
    try bundle.readExtras { member in
      let file = FileEntry(path: member.name, size: member.size, isImage: false)
      if member.isAttachment { attachments.append(file) } else { files.append(file) }
    }
    try findPictures(in: bundle)
  }

  /// Finds the images among the first attachments with an image's name.
  private mutating func findPictures(in bundle: CheckedBundle) throws(BundleError) {
    let paths = Set(
      attachments.map(\.path).filter { ImageHeader.isShown(path: $0) }.prefix(2 * PageLimits.pictures))
    guard !paths.isEmpty else { return }
    let located = try bundle.locating(paths)
    for index in attachments.indices where paths.contains(attachments[index].path) {
      guard let entry = try located.entry(at: attachments[index].path) else { continue }
      attachments[index].isImage = try FileHead(entry).image(at: attachments[index].path) != nil
    }
  }
}

/// Collects the recordings of a manifest, and what the modules lack.
private struct RecordingList {
  private(set) var recordings: [BundleContents.Recording] = []

  private let modules: [Module]
  /// The first module that declares an identifier.
  private var owners: [String: Int] = [:]
  /// The identifiers that each module declares and that were not appended yet.
  private var missing: [Set<String>]
  private let wanted: [Int]

  init(_ modules: [Module]) {
    self.modules = Array(modules.prefix(PageLimits.modules))
    missing = self.modules.map { Set($0.files) }
    wanted = missing.map(\.count)
    for (index, module) in self.modules.enumerated() {
      for identifier in module.files where owners[identifier] == nil { owners[identifier] = index }
    }
  }

  mutating func append(_ recording: Manifest.Recording) {
    for index in missing.indices { missing[index].remove(recording.identifier) }
    recordings.append(
      .init(
        identifier: recording.identifier, path: recording.path, call: recording.call, size: recording.size,
        recordedAt: recording.recordedAt,
        outcome: recording.exchange.map { "\($0.status), \(Measures.number($0.duration)) ms" },
        module: owners[recording.identifier], exchangeProblem: recording.exchangeProblem,
        mayBeEmpty: recording.mayBeEmpty, isMeantAsJSON: recording.isMeantAsJSON))
  }

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
