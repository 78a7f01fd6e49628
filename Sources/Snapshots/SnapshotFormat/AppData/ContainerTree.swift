public import Foundation
public import SystemIO
import ZipArchive

/// The files and folders of an app's container, in a folder or in a snapshot, and their contents.
///
/// The initializers reject links, devices and anything over a limit before any contents are read. They skip Finder's
/// `.DS_Store`, the system's record of the container's owner, and temporary files of an interrupted copy. Thread-safe;
/// calls block.
public struct ContainerTree: Sendable {
  /// The folders and files, sorted by the bytes of their paths: a folder comes before its contents.
  public let entries: [ContainerEntry]
  /// The skipped paths.
  public let passedOver: [String]
  /// The paths whose names are not UTF-8, as far as they can be shown. They are not among ``entries``.
  let unusableNames: [String]
  /// The folder that contains the tree; `nil` if the tree is in a zip.
  public let folder: OpenFolder?

  private let archive: Archive?

  /// The paths on the disk of the entries that have encoded names there.
  private let encoded: [[UInt8]: String]

  /// A snapshot's zip, and its entries by the bytes of their paths in the container: different paths can be equal as
  /// strings.
  private struct Archive: Sendable {
    let bundle: ZippedBundle
    let entries: [[UInt8]: ZipEntry]
  }

  /// Lists the contents of `folder` recursively.
  /// - Parameters:
  ///   - folder: The folder.
  ///   - limits: The limits of the contents.
  ///   - isOfSnapshot: Whether the folder is that of a snapshot, so that names can be encoded (``PortableName``).
  public init(
    _ folder: OpenFolder, limits: ContainerLimits = .default, isOfSnapshot: Bool = false
  ) throws(AppDataError) {
    try self.init(folder, limits: limits, isOfSnapshot: isOfSnapshot, leavesOutUnusableNames: false)
  }

  /// Lists the contents of `folder` recursively, without what has a name that is not UTF-8, or throws for it.
  init(
    _ folder: OpenFolder, limits: ContainerLimits, isOfSnapshot: Bool = false, leavesOutUnusableNames: Bool
  ) throws(AppDataError) {
    var scan = FolderScan(limits, isOfSnapshot: isOfSnapshot, leavesOutUnusableNames: leavesOutUnusableNames)
    try scan.add(folder, "", "")
    entries = Self.sorted(scan.tally.entries)
    passedOver = scan.passedOver
    unusableNames = scan.unusableNames
    encoded = scan.encoded
    self.folder = folder
    archive = nil
  }

  /// Lists the contents of `app-data/` in the snapshot `zip`. Checks the structure of the snapshot.
  public init(snapshot zip: URL, limits: ContainerLimits = .default) throws(AppDataError) {
    let bundle: ZippedBundle
    do {
      bundle = try ZippedBundle(zip, limits: .default)
      try bundle.requireClear()
    } catch { throw .snapshot(error) }
    let inside: [ZipEntry]
    do { inside = try Self.containerEntries(of: bundle) } catch { throw .snapshot(error) }
    guard !inside.isEmpty else { throw .noContainer(zip.path) }
    var tally = ContainerTally(limits)
    var passedOver: [String] = []
    var folders: Set<[UInt8]> = []
    var found: [[UInt8]: ZipEntry] = [:]
    for entry in inside {
      let path = String(
        (PortableName.decode(path: entry.name).path(below: BundleLayout.appData) ?? "").trimmingSuffix("/"))
      guard !path.isEmpty else { continue }
      if ContainerRules.passesOver(path, named: (path.components.last ?? "")[...]) {
        passedOver.append(path)
        continue
      }
      let item = ContainerEntry(
        path: path,
        kind: entry.isFolder ? .folder : .file(size: entry.size, isExecutable: entry.isExecutable))
      var parent = item.isFolder ? path : item.parent
      while !parent.isEmpty, folders.insert(Array(parent.utf8)).inserted {
        let folder = ContainerEntry(path: parent, kind: .folder)
        try tally.add(folder)
        parent = folder.parent
      }
      guard !item.isFolder else { continue }
      guard found.updateValue(entry, forKey: Array(path.utf8)) == nil else {
        throw .sameName(path, entry.name)
      }
      try tally.add(item)
    }
    entries = Self.sorted(tally.entries)
    self.passedOver = passedOver.sorted()
    unusableNames = []
    encoded = [:]
    folder = nil
    archive = Archive(bundle: bundle, entries: found)
  }

  private static func containerEntries(of bundle: ZippedBundle) throws(BundleError) -> [ZipEntry] {
    var entries: [ZipEntry] = []
    try bundle.forEachEntry { if $0.name.hasPrefix(BundleLayout.appData) { entries.append($0) } }
    return entries
  }

  private static func sorted(_ entries: [ContainerEntry]) -> [ContainerEntry] {
    entries.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }

  /// Reads the file `entry` piece by piece into `sink`, in a fixed amount of memory. When it returns, the size and, for
  /// a snapshot, the checksum have been verified.
  public func read(
    _ entry: ContainerEntry, into sink: ([UInt8]) throws(SystemError) -> Void
  ) throws(AppDataError) {
    if let archive, let zipped = archive.entries[Array(entry.path.utf8)] {
      do {
        try archive.bundle.read(zipped, into: sink)
      } catch {
        if case .system(let cause) = error { throw .system(file: entry.path, cause) }
        throw .snapshot(error)
      }
    } else if let folder {
      let file = try open(entry, in: folder)
      var offset: Int64 = 0
      while true {
        let bytes = try AppDataError.disk(entry.path) { () throws(SystemError) in
          try file.read(upTo: 256 << 10, at: offset)
        }
        if bytes.isEmpty { break }
        offset += Int64(bytes.count)
        guard offset <= entry.size else { throw .changed(entry.path) }
        try AppDataError.disk(entry.path) { () throws(SystemError) in try sink(bytes) }
      }
      guard offset == entry.size else { throw .changed(entry.path) }
    }
  }

  private func open(_ entry: ContainerEntry, in folder: OpenFolder) throws(AppDataError) -> File {
    try AppDataError.disk(entry.path) { () throws(SystemError) in
      let parts = (encoded[Array(entry.path.utf8)] ?? entry.path).components
      let file = try folder.folder(at: parts.dropLast().joined(separator: "/")).file(parts.last ?? "")
      guard try file.isRegular else { throw SystemError(operation: "open", path: file.path, code: EINVAL) }
      return file
    }
  }
}

/// Lists a folder recursively.
private struct FolderScan {
  var tally: ContainerTally
  var passedOver: [String] = []
  var unusableNames: [String] = []
  var encoded: [[UInt8]: String] = [:]
  private let isOfSnapshot: Bool
  private let leavesOutUnusableNames: Bool

  init(_ limits: ContainerLimits, isOfSnapshot: Bool, leavesOutUnusableNames: Bool) {
    tally = ContainerTally(limits)
    (self.isOfSnapshot, self.leavesOutUnusableNames) = (isOfSnapshot, leavesOutUnusableNames)
  }

  /// - Parameters:
  ///   - prefix: the path of the folder in the container.
  ///   - place: the same path as it is on the disk.
  mutating func add(_ folder: OpenFolder, _ prefix: String, _ place: String) throws(AppDataError) {
    let (names, unusable) = try AppDataError.disk(prefix) { () throws(SystemError) in try folder.allEntries()
    }
    if let name = unusable.first, !leavesOutUnusableNames { throw .unusableName(prefix + name) }
    unusableNames += unusable.map { prefix + $0 }
    var originals: Set<[UInt8]> = []
    for name in names {
      let original = isOfSnapshot ? PortableName.decode(name) ?? name : name
      let path = prefix + original
      guard originals.insert(Array(original.utf8)).inserted else { throw .sameName(path, prefix + name) }
      if !path.utf8.elementsEqual((place + name).utf8) { encoded[Array(path.utf8)] = place + name }
      if ContainerRules.passesOver(path, named: name[...]) {
        passedOver.append(path)
        continue
      }
      let status = try AppDataError.disk(path) { () throws(SystemError) in try folder.status(name) }
      switch status?.kind {
      case .file:
        let kind = ContainerEntry.Kind.file(
          size: status?.size ?? 0, isExecutable: status?.isExecutable == true)
        try tally.add(ContainerEntry(path: path, kind: kind))
      case .folder:
        try tally.add(ContainerEntry(path: path, kind: .folder))
        try add(
          AppDataError.disk(path) { () throws(SystemError) in try folder.folder(name) }, path + "/",
          place + name + "/")
      case .link: throw .link(path)
      case .other: throw .specialFile(path)
      case nil: throw .changed(path)
      }
    }
  }
}

extension StringProtocol {
  /// The text without `suffix` at its end, if present.
  fileprivate func trimmingSuffix(_ suffix: String) -> SubSequence {
    hasSuffix(suffix) ? dropLast(suffix.count) : self[...]
  }
}
