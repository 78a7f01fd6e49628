public import Foundation
import SystemIO

/// A folder of a test's own, gone when the last reference goes.
public final class TemporaryFolder: Sendable {
  /// Where it is.
  public let url: URL

  /// Makes an empty folder.
  public init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "snapshot-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    do { try Folder.removeTree(url.path) } catch { print("left behind: \(error)") }
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
