import Foundation
import SystemIO

/// A folder on a simulated disk that can lose power at any time.
///
/// It records each operation below the folder with the promises made until then, and creates folders with the possible
/// states after a power cut: none, some or all of the unflushed changes. A test that opens a store in each of them
/// fails if a flush is missing before a rename or before a response. Only operations of `SystemIO` are recorded.
package final class PowerCutDisk<Promise: Sendable>: Sendable {
  /// A moment at which the power can fail or the process can end.
  package struct Moment: Sendable {
    fileprivate let image: DiskImage
    /// The promises made until then.
    package let promise: Promise
    /// The operation that was about to follow.
    package let label: String
    fileprivate let promiseNumber: Int
  }

  /// A possible state after a power cut, in a folder.
  package struct Remains: Sendable {
    /// The path of the disk's folder.
    package let path: String
    package let promise: Promise
    package let label: String
  }

  private struct State {
    var image: DiskImage
    var promise: Promise
    var promiseNumber = 0
    var moments: [Moment] = []

    mutating func add(_ label: String) {
      moments.append(
        Moment(image: image, promise: promise, label: label, promiseNumber: promiseNumber))
    }
  }

  /// The path of the disk's folder.
  package let path: String
  private let folder: TemporaryFolder
  private let state: Lock<State>
  private let observer: Lock<FileObserver?>

  /// Creates an empty disk, all of which is flushed.
  package convenience init(_ promise: Promise) throws {
    try self.init(DiskImage(), promise)
  }

  /// Creates the disk that a process finds after another one was killed at `moment`: nothing is lost, and unflushed
  /// changes are still unflushed.
  package convenience init(after moment: Moment) throws {
    try self.init(moment.image, moment.promise)
  }

  private init(_ image: DiskImage, _ promise: Promise) throws {
    folder = try TemporaryFolder.forManyFiles(bytes: 64 << 20)
    path = folder.path + "/disk"
    try image.tree(keepsNames: true, .none).write(to: path)
    let path = path
    let image = try image.moved { try Folder.file(at: path + $0)?.identity }
    state = Lock(State(image: image, promise: promise))
    observer = Lock(nil)
    let root = path.utf8.count
    let new = FileObserver(path) { [weak self] operation in self?.apply(operation.relative(to: root)) }
    observer.withLock { $0 = new }
  }

  deinit { observer.withLock { $0?.stop() } }

  private func apply(_ operation: FileObserver.Operation) {
    state.withLock { state in
      state.add("before \(operation.label)")
      state.image.apply(operation)
    }
  }

  /// Changes the promise, which must hold from now on.
  package func promise(_ change: (inout Promise) -> Void) {
    state.withLock { state in
      change(&state.promise)
      state.promiseNumber += 1
      state.add("after a promise")
    }
  }

  /// All moments so far.
  package var moments: [Moment] { state.withLock { $0.moments } }

  /// Calls `body` with each distinct state that is possible after a power cut at any moment so far.
  package func forEachCut(_ body: (Remains) async throws -> Void) async throws {
    var seen: Set<Outcome> = []
    for moment in moments {
      for keepsNames in [true, false] {
        for loss in DiskImage.ContentLoss.allCases {
          let tree = moment.image.tree(keepsNames: keepsNames, loss)
          guard seen.insert(Outcome(tree: tree, promiseNumber: moment.promiseNumber)).inserted else {
            continue
          }
          let place = try TemporaryFolder.forManyFiles(bytes: 64 << 20)
          try tree.write(to: place.path + "/disk")
          try await body(
            Remains(
              path: place.path + "/disk", promise: moment.promise,
              label: "\(moment.label), names \(keepsNames ? "kept" : "lost"), contents: \(loss)"))
        }
      }
    }
  }
}

private struct Outcome: Hashable {
  let tree: DiskImage.Tree
  let promiseNumber: Int
}

extension DiskImage.Tree {
  fileprivate func write(to path: String) throws {
    try Folder.create(path)
    // A folder is created before its contents.
    for (name, contents) in sorted(by: { $0.key < $1.key }) {
      guard let contents else {
        try Folder.create(path + name)
        continue
      }
      try File(path + name, .create(mode: 0o600)).write(contents, at: 0)
    }
  }
}

extension FileObserver.Operation {
  /// The same operation with paths relative to the disk's folder, whose path has `root` bytes.
  fileprivate func relative(to root: Int) -> Self {
    func cut(_ path: String) -> String { String(decoding: path.utf8.dropFirst(root), as: UTF8.self) }
    return switch self {
    case .createFile(let path, let identity): .createFile(cut(path), identity)
    case .createFolder(let path): .createFolder(cut(path))
    case .flushFolder(let path): .flushFolder(cut(path))
    case .rename(let from, let path): .rename(cut(from), to: cut(path))
    case .link(let from, let path): .link(cut(from), as: cut(path))
    case .remove(let path): .remove(cut(path))
    case .write, .truncate, .flushFile, .flushVolume: self
    }
  }

  fileprivate var label: String {
    switch self {
    case .createFile(let path, _): "create \(path)"
    case .write(let bytes, let offset, _): "write \(bytes.count) bytes at \(offset)"
    case .truncate(let size, _): "truncate to \(size)"
    case .flushFile: "flush a file"
    case .createFolder(let path): "create folder \(path)"
    case .flushFolder(let path): "flush folder \(path)"
    case .rename(let from, let path): "rename \(from) to \(path)"
    case .link(let from, let path): "link \(from) as \(path)"
    case .remove(let path): "remove \(path)"
    case .flushVolume: "flush the volume"
    }
  }
}
