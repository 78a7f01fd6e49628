public import Foundation
import SystemIO

/// A folder for a test, which is removed when the last reference is released.
public final class TemporaryFolder: Sendable {
  /// The location of the folder.
  public let url: URL

  /// Creates an empty folder in `parent`, by default the system's folder for temporary files.
  public init(in parent: URL = FileManager.default.temporaryDirectory) throws {
    url = parent.appending(path: "snapshot-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    do { try Folder.removeTree(url.path) } catch { print("cannot remove the folder: \(error)") }
  }

  /// Creates an empty folder in memory if that has room for `bytes`, or else in the folder for temporary files. It is
  /// meant for thousands of files: ext4 creates files slowly after many were removed.
  public static func forManyFiles(bytes: Int64) throws -> TemporaryFolder {
    let memory = "/dev/shm"
    guard Folder.isFolder(memory), try Folder.availableBytes(memory) > bytes else {
      return try TemporaryFolder()
    }
    return try TemporaryFolder(in: URL(filePath: memory))
  }

  /// The path of the folder.
  public var path: String { url.path }

  /// The location of a file in the folder.
  public func file(_ name: String) -> URL { url.appending(path: name) }

  /// Writes `data` to a file, and creates its folders if necessary.
  @discardableResult
  public func write(_ data: Data, to name: String) throws -> URL {
    let file = file(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file)
    return file
  }
}
