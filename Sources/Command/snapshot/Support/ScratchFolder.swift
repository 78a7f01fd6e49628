import Foundation
import SystemIO

/// A temporary folder that is removed with its contents when the last reference is released, or when a signal ends the
/// command.
///
/// A process that is killed can't remove its folder. So each folder is locked by its process, and every command that
/// creates one removes those of the same user that are not locked.
final class ScratchFolder: Sendable {
  /// The beginning of the names. Kept folders have another one.
  private static let prefix = "snapshot-scratch-"
  /// How often another folder is created if a command that removes abandoned ones was faster than the lock.
  private static let attempts = 10

  let url: URL
  /// Locks the folder; `nil` if it is kept.
  private let lock: File?

  /// Creates an empty folder. It is not removed if `keep` is set.
  init(keep: Bool = false) throws(CommandFailure) {
    let parent = FileManager.default.temporaryDirectory
    do {
      if keep {
        url = parent.appending(path: "snapshot-\(UUID().uuidString)")
        lock = nil
        try Folder.create(url.path)
      } else {
        Self.removeAbandoned(in: parent.path)
        let (path, lock) = try Self.make(in: parent)
        (url, self.lock) = (path, lock)
      }
    } catch {
      throw CommandFailure("Cannot create a temporary folder: \(error)")
    }
  }

  deinit {
    guard lock != nil else { return }
    do { try Folder.removeTree(url.path) } catch { Console.message("Cannot remove \(url.path): \(error)") }
    TemporaryPaths.forget(url.path)
  }

  func file(_ name: String) -> URL { url.appending(path: name) }

  // MARK: - Abandoned folders

  private static func make(in parent: URL) throws(SystemError) -> (URL, File) {
    var attempt = 1
    while true {
      let url = parent.appending(path: prefix + UUID().uuidString)
      let path = url.path
      do {
        let lock = try TemporaryPaths.create(path) { () throws(SystemError) -> File in
          try Folder.create(path)
          return try lockFolder(path)
        }
        return (url, lock)
      } catch {
        // Another command removes the folder, or has removed it.
        guard error.isNotFound || error.isWouldBlock, attempt < attempts else { throw error }
        attempt += 1
      }
    }
  }

  /// Locks the folder at `path`. Throws an error with ``/SystemIO/SystemError/isWouldBlock`` if another process has
  /// locked it, and ``/SystemIO/SystemError/isNotFound`` if it does not exist any more.
  private static func lockFolder(_ path: String) throws(SystemError) -> File {
    let folder = try File(path)
    do throws(SystemError) {
      guard try folder.tryLock() else {
        throw SystemError(operation: "flock", path: path, code: EWOULDBLOCK)
      }
    } catch {
      // Some network file systems can't lock folders. There, no folder counts as abandoned.
      guard error.isUnsupported else { throw error }
    }
    guard try Folder.exists(path) else { throw SystemError(operation: "open", path: path, code: ENOENT) }
    return folder
  }

  /// Removes the folders that processes of this user have left. What can't be removed remains for the next command.
  private static func removeAbandoned(in parent: String) {
    do {
      for (name, kind) in try Folder.kinds(in: parent) where kind == .folder && name.hasPrefix(prefix) {
        removeIfAbandoned("\(parent)/\(name)")
      }
    } catch {
      // The command does not need it.
    }
  }

  private static func removeIfAbandoned(_ path: String) {
    do {
      guard try Folder.ownership(of: path)?.owner == CurrentUser.id else { return }
      let folder = try File(path)
      guard try folder.tryLock() else { return }
      try withExtendedLifetime(folder) { () throws(SystemError) in try Folder.removeTree(path) }
    } catch {
      // It is removed by another command, or can't be locked.
    }
  }
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
