public import Foundation
import SystemIO

/// A folder of a test's own, gone when the last reference goes.
public final class TemporaryFolder: Sendable {
  /// Where it is.
  public let url: URL

  /// Makes an empty folder, where temporary files are kept unless another place is named.
  public init(in parent: URL = FileManager.default.temporaryDirectory) throws {
    url = parent.appending(path: "snapshot-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    do { try Folder.removeTree(url.path) } catch { print("left behind: \(error)") }
  }

  /// Makes an empty folder in memory where that has room for so many bytes, else where temporary files are kept: for
  /// thousands of files, which ext4 is slow to make after as many were removed.
  public static func forManyFiles(bytes: Int64) throws -> TemporaryFolder {
    let memory = "/dev/shm"
    guard Folder.isFolder(memory), try Folder.availableBytes(memory) > bytes else {
      return try TemporaryFolder()
    }
    return try TemporaryFolder(in: URL(filePath: memory))
  }

  /// The folder's path.
  public var path: String { url.path }

  /// A place in the folder.
  public func file(_ name: String) -> URL { url.appending(path: name) }

  /// Writes `data` to a file of that name, making folders on the way.
  @discardableResult
  public func write(_ data: Data, to name: String) throws -> URL {
    let file = file(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file)
    return file
  }
}
