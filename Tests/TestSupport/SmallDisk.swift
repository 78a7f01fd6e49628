public import Foundation
import SystemIO

/// A real disk of one megabyte, which a test fills up.
///
/// It is mounted in a namespace of its own, so that neither a right nor anybody's leave is needed, and nothing of it
/// stays: a process holds it, and with that it goes. Others reach it through that process's view of the file system.
public final class SmallDisk: Sendable {
  /// A folder of the disk, empty at first.
  public let url: URL

  private let mountPoint: TemporaryFolder
  private let holder: RunningProgram

  /// Whether this machine lets one be made: it takes Linux, `unshare`, and namespaces that the user may make.
  public static var isPossible: Bool {
    get async {
      do {
        return try await SmallDisk().available > 0
      } catch {
        return false
      }
    }
  }

  /// What a test says that is passed over where ``isPossible`` does not hold.
  public static let requirement = "needs Linux, unshare, and user namespaces"

  /// Makes an empty disk.
  public init() async throws {
    mountPoint = try TemporaryFolder()
    let script = #"mount -t tmpfs -o size=1m,mode=700 tmpfs "$0" && echo mounted && exec sleep 600"#
    holder = try await RunningProgram(
      "unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", script, mountPoint.path])
    url = URL(filePath: "/proc/\(holder.identifier)/root\(mountPoint.path)/disk")
    try Folder.create(url.path)
  }

  /// A place on the disk.
  public func file(_ name: String) -> URL { url.appending(path: name) }

  /// The bytes that are free.
  public var available: Int64 { get throws { try Folder.availableBytes(url.path) } }

  /// Lets something else on the disk take all of it but `bytes`, which may be more or less than it took before.
  public func fill(leaving bytes: Int64 = 0) throws {
    try empty()
    let count = max(0, try available - bytes)
    try Data(repeating: 0xF1, count: Int(count)).write(to: filler)
  }

  /// Gives back what ``fill(leaving:)`` took.
  public func empty() throws { try Folder.removeIfPresent(filler.path) }

  /// Beside the folder that a test looks at.
  private var filler: URL { url.deletingLastPathComponent().appending(path: "filler") }
}
