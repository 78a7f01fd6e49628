import SnapshotFormat
import SystemIO

/// Copies a tree into an open folder.
struct ContainerCopy {
  private let tree: ContainerTree
  private let root: OpenFolder
  /// Whether the destination's file system distinguishes `a` from `A`; `nil` to detect it.
  private let isCaseSensitive: Bool?

  init(_ tree: ContainerTree, to root: OpenFolder, isCaseSensitive: Bool? = nil) {
    self.tree = tree
    self.root = root
    self.isCaseSensitive = isCaseSensitive
  }

  func run() throws(AppDataError) -> PreloadReport {
    try checkDestination()
    try checkNames()
    for folder in [""] + tree.entries.lazy.filter(\.isFolder).map(\.path) { try removeLeftovers(in: folder) }
    var report = PreloadReport()
    report.passedOver = tree.passedOver
    for entry in tree.entries {
      if entry.isFolder {
        if try make(entry) { report.folders.append(entry.path) }
      } else {
        report.files.append(.init(path: entry.path, size: entry.size, outcome: try put(entry)))
      }
    }
    return report
  }

  // MARK: - Checks

  /// Throws if something is in the way, before anything is written.
  private func checkDestination() throws(AppDataError) {
    var missing: Set<String> = []
    for entry in tree.entries {
      if missing.contains(entry.parent) {
        if entry.isFolder { missing.insert(entry.path) }
        continue
      }
      switch (try status(of: entry)?.kind, entry.isFolder) {
      case (nil, let isFolder): if isFolder { missing.insert(entry.path) }
      case (.folder, true), (.file, false): break
      case (.link, _): throw .obstacle(.link, at: entry.path)
      case (.folder, false): throw .obstacle(.folder, at: entry.path)
      case (.file, true): throw .obstacle(.file, at: entry.path)
      case (.other, _): throw .obstacle(.device, at: entry.path)
      }
    }
  }

  /// Throws if the file system treats two of the paths as the same.
  private func checkNames() throws(AppDataError) {
    var paths: [String: String] = [:]
    for entry in tree.entries {
      // Swift strings are equal if they are canonically equivalent.
      guard let other = paths.updateValue(entry.path, forKey: entry.path.lowercased()) else { continue }
      if try tellsCasesApart() { return }
      throw .sameName(other, entry.path)
    }
  }

  private func tellsCasesApart() throws(AppDataError) -> Bool {
    if let isCaseSensitive { return isCaseSensitive }
    return try AppDataError.disk("") { () throws(SystemError) in
      let staged = try StagedFile(in: root, mode: 0o600)
      defer { staged.discard() }
      return try root.status(staged.name.uppercased()) == nil
    }
  }

  private func status(of entry: ContainerEntry) throws(AppDataError) -> OpenFolder.Status? {
    try AppDataError.disk(entry.path) { () throws(SystemError) in
      try root.folder(at: entry.parent).status(entry.name)
    }
  }

  /// Removes the temporary files of interrupted copies from `folder`.
  private func removeLeftovers(in folder: String) throws(AppDataError) {
    try AppDataError.disk(folder) { () throws(SystemError) in
      do throws(SystemError) {
        let folder = try root.folder(at: folder)
        for name in try folder.entries() where StagedName.matches(name) {
          try StagedFile.removeAbandoned(name, in: folder)
        }
      } catch  where error.isNotFound || error.isUnusableName {
        // The folder does not exist yet, or contains a name that this code never creates.
      }
    }
  }

  // MARK: - Writing

  private func make(_ entry: ContainerEntry) throws(AppDataError) -> Bool {
    try AppDataError.disk(entry.path) { () throws(SystemError) in
      let parent = try root.folder(at: entry.parent)
      do throws(SystemError) {
        try parent.create(folder: entry.name, mode: 0o755)
        return true
      } catch  where error.isAlreadyThere {
        // The folder existed, or another process created it. Opening it fails if it is a link or a file.
        _ = try parent.folder(entry.name)
        return false
      }
    }
  }

  private func put(_ entry: ContainerEntry) throws(AppDataError) -> PreloadReport.Outcome {
    let (folder, status) = try AppDataError.disk(entry.path) { () throws(SystemError) in
      let folder = try root.folder(at: entry.parent)
      return (folder, try folder.status(entry.name))
    }
    if let status, try isUnchanged(entry, status, in: folder) { return .unchanged }
    let executable: UInt16 = entry.isExecutable ? 0o755 : 0o644
    let staged = try AppDataError.disk(entry.path) { () throws(SystemError) in
      try StagedFile(in: folder, mode: status == nil ? executable : 0o600)
    }
    do {
      var offset: Int64 = 0
      try tree.read(entry) { bytes throws(SystemError) in
        try staged.file.write(bytes, at: offset)
        offset += Int64(bytes.count)
      }
      try AppDataError.disk(entry.path) { () throws(SystemError) in
        if let status {
          try staged.file.setMode(status.permissions(isExecutable: entry.isExecutable))
          try staged.file.synchronize()
        }
        try staged.publish(as: entry.name)
      }
    } catch {
      staged.discard()
      throw error
    }
    return status == nil ? .created : .replaced
  }

  /// Whether the existing file has the same bytes, and is executable if the entry is.
  private func isUnchanged(
    _ entry: ContainerEntry, _ status: OpenFolder.Status, in folder: OpenFolder
  ) throws(AppDataError) -> Bool {
    guard status.kind == .file, status.size == entry.size, status.isExecutable == entry.isExecutable
    else { return false }
    let file: File
    // A file that can't be read can still be replaced.
    do { file = try folder.file(entry.name) } catch { return false }
    var (offset, isSame): (Int64, Bool) = (0, true)
    try tree.read(entry) { bytes throws(SystemError) in
      if isSame { isSame = try file.read(upTo: bytes.count, at: offset) == bytes }
      offset += Int64(bytes.count)
    }
    return isSame
  }
}

extension OpenFolder.Status {
  /// The permissions with or without the right to execute: for the owner, and for everybody else with the right to
  /// read.
  fileprivate func permissions(isExecutable: Bool) -> UInt16 {
    let plain = permissions & 0o666
    return isExecutable ? plain | (plain & 0o444) >> 2 | 0o100 : plain
  }
}

extension ContainerTree {
  /// Throws if the destination is inside the tree's own folder. The destination does not have to exist.
  func checkIsOutside(_ path: String) throws(AppDataError) {
    guard let folder else { return }
    let isInside = try AppDataError.disk("") { () throws(SystemError) in
      var place = path
      while try !Folder.exists(place), place != "/", place != "." { place = Folder.parent(of: place) }
      return try OpenFolder(place).isInside(folder)
    }
    if isInside { throw .destinationInSource(path) }
  }
}

/// A temporary file that will be renamed to its final name. It is locked while it is written, so that other processes
/// do not consider it abandoned.
struct StagedFile {
  let name: String
  let file: File
  private let folder: OpenFolder
  private var path: String { folder.path + "/" + name }

  /// Creates an empty file with a new name in `folder`.
  init(in folder: OpenFolder, mode: UInt16) throws(SystemError) {
    self.folder = folder
    while true {
      let name = StagedName.make()
      let file = try TemporaryPaths.create(folder.path + "/" + name) { () throws(SystemError) in
        try folder.file(name, .create(mode: mode))
      }
      // Between the two calls, another process can have removed the file as abandoned.
      if try file.tryLock(), try folder.status(name) != nil {
        self.name = name
        self.file = file
        return
      }
    }
  }

  /// Renames the file atomically to its final name.
  func publish(as final: String) throws(SystemError) {
    // The lock must be held until the file is renamed.
    try withExtendedLifetime(file) { () throws(SystemError) in try folder.replace(final, with: name) }
    TemporaryPaths.forget(path)
  }

  /// Removes the file after an error. The original error is reported, so an error here is ignored.
  func discard() {
    do { try folder.remove(name) } catch {}
    TemporaryPaths.forget(path)
  }

  /// Removes the temporary file `name`, unless it is being written.
  static func removeAbandoned(_ name: String, in folder: OpenFolder) throws(SystemError) {
    do {
      guard try folder.status(name)?.kind == .file, try folder.file(name).tryLock() else { return }
      try folder.remove(name)
    } catch  where error.isNotFound {
      // The file has been renamed in the meantime.
    }
  }
}
