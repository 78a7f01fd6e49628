package import SystemIO

/// The files and folders of a disk in two states: as processes see them, and as they are on the medium.
///
/// Names and contents are flushed separately. A rename is one change of both folders, as in journaling file systems,
/// and flushing either folder flushes it. Unflushed changes of names survive in order up to some point. A test that
/// checks the image after each operation checks each such point.
package struct DiskImage: Sendable {
  fileprivate struct Contents {
    var seen: [UInt8] = []
    var flushed: [UInt8] = []
  }

  private struct Names {
    var seen: [String: Int] = [:]
    var flushed: [String: Int] = [:]
  }

  private struct Place: Hashable {
    let folder: Int
    let name: String
  }

  /// An unflushed change of names.
  private struct Change {
    var removed: Place?
    var put: (place: Place, node: Int)?
    var places: Set<Place> { Set([removed, put?.place].compactMap(\.self)) }
  }

  /// The effect of a power cut on unflushed contents.
  package enum ContentLoss: CaseIterable, Sendable {
    case none
    /// The contents are those of the last flush.
    case lost
    /// The length is correct, but the bytes are wrong.
    case garbled
    /// Only the first half of the change has survived.
    case torn
  }

  /// The state after a crash: the contents of each file by its path, and `nil` for each folder.
  package typealias Tree = [String: [UInt8]?]

  private static let root = 0
  private var folders: [Int: Names] = [root: Names()]
  private var files: [Int: Contents] = [:]
  private var nodes: [FileIdentity: Int] = [:]
  private var changes: [Change] = []
  private var nextNode = 1

  /// Creates an empty disk.
  package init() {}

  /// Applies a file operation. Paths begin with a slash and are relative to the disk.
  package mutating func apply(_ operation: FileObserver.Operation) {
    switch operation {
    case .createFile(let path, let identity):
      files[nextNode] = Contents()
      nodes[identity] = nextNode
      put(nextNode, at: place(path))
      nextNode += 1
    case .write(let bytes, let offset, let identity):
      change(identity) { contents in
        let missing = Int(offset) + bytes.count - contents.count
        if missing > 0 { contents += [UInt8](repeating: 0, count: missing) }
        contents.replaceSubrange(Int(offset)..<Int(offset) + bytes.count, with: bytes)
      }
    case .truncate(let size, let identity):
      change(identity) { contents in
        contents = Array(contents.prefix(Int(size)))
        contents += [UInt8](repeating: 0, count: Int(size) - contents.count)
      }
    case .flushFile(let identity):
      if let node = nodes[identity] { flush(file: node) }
    case .createFolder(let path):
      folders[nextNode] = Names()
      put(nextNode, at: place(path))
      nextNode += 1
    case .flushFolder(let path):
      if let folder = node(path) { flush(folder: folder) }
    case .rename(let former, let path):
      guard let from = place(former), let node = folders[from.folder]?.seen[from.name] else { return }
      put(node, at: place(path), removing: from)
    case .link(let former, let path):
      guard let from = place(former), let node = folders[from.folder]?.seen[from.name] else { return }
      put(node, at: place(path))
    case .remove(let path):
      guard let place = place(path), folders[place.folder]?.seen.removeValue(forKey: place.name) != nil else {
        return
      }
      changes.append(Change(removed: place))
    case .flushVolume:
      for node in files.keys { flush(file: node) }
      for change in changes { flush(change) }
      changes = []
    }
  }

  /// Returns the state after a crash.
  /// - Parameter keepsNames: whether unflushed names survive.
  package func tree(keepsNames: Bool, _ loss: ContentLoss) -> Tree {
    var tree: Tree = [:]
    collect(Self.root, "", keepsNames, loss, &tree)
    return tree
  }

  /// Returns the same disk for a copy of its files. `identity` returns the identity of a file in the copy by its path.
  package func moved(_ identity: (String) throws -> FileIdentity?) rethrows -> DiskImage {
    var copy = self
    copy.nodes = [:]
    func visit(_ folder: Int, _ path: String) throws {
      for (name, node) in folders[folder]?.seen ?? [:] {
        if folders[node] != nil {
          try visit(node, "\(path)/\(name)")
        } else if let found = try identity("\(path)/\(name)") {
          copy.nodes[found] = node
        }
      }
    }
    try visit(Self.root, "")
    return copy
  }

  // MARK: - Names

  private func node(_ path: String) -> Int? {
    path.split(separator: "/").reduce(Self.root) { folder, name in
      folder.flatMap { folders[$0]?.seen[String(name)] }
    }
  }

  private func place(_ path: String) -> Place? {
    let parts = path.split(separator: "/")
    guard let name = parts.last, let folder = node(parts.dropLast().joined(separator: "/")) else {
      return nil
    }
    return Place(folder: folder, name: String(name))
  }

  private mutating func put(_ node: Int, at place: Place?, removing former: Place? = nil) {
    guard let place else { return }
    if let former { folders[former.folder]?.seen[former.name] = nil }
    folders[place.folder]?.seen[place.name] = node
    changes.append(Change(removed: former, put: (place, node)))
  }

  private mutating func flush(folder: Int) {
    // Each change requires the earlier ones of the same name.
    var (flushed, left, names) = ([Change](), [Change](), Set<Place>())
    for change in changes.reversed() {
      if change.places.contains(where: { $0.folder == folder }) || !names.isDisjoint(with: change.places) {
        flushed.append(change)
        names.formUnion(change.places)
      } else {
        left.append(change)
      }
    }
    for change in flushed.reversed() { flush(change) }
    changes = left.reversed()
  }

  private mutating func flush(_ change: Change) {
    if let place = change.removed { folders[place.folder]?.flushed[place.name] = nil }
    if let (place, node) = change.put { folders[place.folder]?.flushed[place.name] = node }
  }

  // MARK: - Contents

  private mutating func change(_ identity: FileIdentity, _ change: (inout [UInt8]) -> Void) {
    guard let node = nodes[identity], var contents = files[node] else { return }
    change(&contents.seen)
    files[node] = contents
  }

  private mutating func flush(file node: Int) {
    guard let contents = files[node] else { return }
    files[node]?.flushed = contents.seen
  }

  private func collect(
    _ folder: Int, _ path: String, _ keepsNames: Bool, _ loss: ContentLoss, _ tree: inout Tree
  ) {
    guard let names = folders[folder] else { return }
    for (name, node) in keepsNames ? names.seen : names.flushed {
      if let contents = files[node] {
        tree["\(path)/\(name)"] = .some(contents.after(loss))
      } else {
        tree["\(path)/\(name)"] = .some(nil)
        collect(node, "\(path)/\(name)", keepsNames, loss, &tree)
      }
    }
  }
}

extension DiskImage.Contents {
  func after(_ loss: DiskImage.ContentLoss) -> [UInt8] {
    if seen == flushed { return seen }
    let padded = flushed.prefix(seen.count) + [UInt8](repeating: 0, count: max(0, seen.count - flushed.count))
    let isChanged = { (index: Int) in index >= flushed.count || seen[index] != flushed[index] }
    switch loss {
    case .none: return seen
    case .lost: return flushed
    case .garbled: return seen.indices.map { isChanged($0) ? seen[$0] ^ 0xEE : seen[$0] }
    case .torn:
      guard let first = seen.indices.first(where: isChanged), let last = seen.indices.last(where: isChanged)
      else { return flushed }
      return Array(seen[...((first + last) / 2)] + padded[((first + last) / 2 + 1)...])
    }
  }
}
