import Foundation
import SystemIO

/// Where a command is to put its result.
enum NewPath {
  /// Refuses `path` unless nothing is there and the folder is that it would lie in. `kind` is what will be there.
  static func check(_ path: String, kind: String) throws(CommandFailure) {
    guard !path.isEmpty else { throw CommandFailure("The \(kind) to write has no name.", status: .refused) }
    let isTaken: Bool
    do { isTaken = try Folder.exists(path) } catch {
      throw CommandFailure("\(path) can't be looked up: \(error)")
    }
    guard !isTaken else {
      throw CommandFailure("\(path) is there already; name a \(kind) that is not.", status: .refused)
    }
    let folder = URL(filePath: path).deletingLastPathComponent().path
    guard Folder.isFolder(folder) else {
      throw CommandFailure(
        "There is no folder \(folder) to put \(path) into; make it first.", status: .refused)
    }
  }
}
