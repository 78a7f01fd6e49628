import Foundation
import SystemIO

/// A temporary folder that is removed with its contents when the last reference is released.
final class ScratchFolder: Sendable {
  let url: URL
  private let keep: Bool

  /// Creates an empty folder. It is not removed if `keep` is set.
  init(keep: Bool = false) throws(CommandFailure) {
    self.keep = keep
    url = FileManager.default.temporaryDirectory.appending(path: "snapshot-\(UUID().uuidString)")
    let path = url.path
    do {
      if keep {
        try Folder.create(path)
      } else {
        try TemporaryPaths.create(path) { () throws(SystemError) in try Folder.create(path) }
      }
    } catch {
      throw CommandFailure("Cannot create a temporary folder: \(error)")
    }
  }

  deinit {
    if keep { return }
    do { try Folder.removeTree(url.path) } catch { Console.message("Cannot remove \(url.path): \(error)") }
    TemporaryPaths.forget(url.path)
  }

  func file(_ name: String) -> URL { url.appending(path: name) }
}

/// The path for a command's result.
enum NewPath {
  /// Throws unless `path` is free and its parent folder exists.
  /// - Parameters:
  ///   - kind: the kind of the result: `file` or `folder`.
  ///   - mend: how to proceed if the path is taken.
  static func check(_ path: String, kind: String, mend: String? = nil) throws(CommandFailure) {
    guard !path.isEmpty else { throw CommandFailure("The \(kind) to write has no name.", status: .refused) }
    let isTaken: Bool
    do { isTaken = try Folder.exists(path) } catch {
      throw CommandFailure("Cannot check the path \(path): \(error)")
    }
    guard !isTaken else {
      throw CommandFailure(
        "\(path) exists already; \(mend ?? "name a \(kind) that does not").", status: .refused)
    }
    let folder = URL(filePath: path).deletingLastPathComponent().path
    guard Folder.isFolder(folder) else {
      throw CommandFailure(
        "There is no folder \(folder) for \(path); create it first.", status: .refused)
    }
  }
}
