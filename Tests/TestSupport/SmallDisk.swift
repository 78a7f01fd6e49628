public import Foundation
import SystemIO

/// A real file system of one megabyte, which a test can fill.
///
/// It is mounted in a separate namespace, so that no privilege is required and it disappears with the process that
/// holds it. Other processes reach it through `/proc` of that process.
public final class SmallDisk: Sendable {
  /// A folder on the disk, empty at first.
  public let url: URL

  private let mountPoint: TemporaryFolder
  private let holder: RunningProgram

  /// Whether this machine supports it: it requires Linux, `unshare`, and user namespaces.
  public static var isPossible: Bool {
    get async {
      do {
        return try await SmallDisk().available > 0
      } catch {
        return false
      }
    }
  }

  /// The reason for skipping a test if ``isPossible`` is `false`.
  public static let requirement = "needs Linux, unshare, and user namespaces"

  /// Creates an empty disk.
  public init() async throws {
    mountPoint = try TemporaryFolder()
    let script = #"mount -t tmpfs -o size=1m,mode=700 tmpfs "$0" && echo mounted && exec sleep 600"#
    holder = try await RunningProgram(
      "unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", script, mountPoint.path])
    url = URL(filePath: "/proc/\(holder.identifier)/root\(mountPoint.path)/disk")
    try Folder.create(url.path)
  }

  /// The location of a file on the disk.
  public func file(_ name: String) -> URL { url.appending(path: name) }

  /// The number of free bytes.
  public var available: Int64 { get throws { try Folder.availableBytes(url.path) } }

  /// Fills the disk so that `bytes` remain free. Replaces an earlier filling.
  public func fill(leaving bytes: Int64 = 0) throws {
    try empty()
    let count = max(0, try available - bytes)
    try Data(repeating: 0xF1, count: Int(count)).write(to: filler)
  }

  /// Removes the filling of ``fill(leaving:)``.
  public func empty() throws { try Folder.removeIfPresent(filler.path) }

  /// The filling is beside the folder that a test uses.
  private var filler: URL { url.deletingLastPathComponent().appending(path: "filler") }
}
