public import Foundation
import SystemIO

/// A real file system of one megabyte by default, which a test can fill.
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

  /// Creates an empty disk with space for `bytes`, and for `inodes` files and folders.
  public init(bytes: Int64 = 1 << 20, inodes: Int = 1000) async throws {
    mountPoint = try TemporaryFolder()
    let options = "size=\(bytes),nr_inodes=\(inodes),mode=700"
    // Longer than a run of all tests: a test on a busy machine can wait long for a thread.
    let script = #"mount -t tmpfs -o \#(options) tmpfs "$0" && echo mounted && exec sleep 3600"#
    holder = try await RunningProgram(
      "unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", script, mountPoint.path])
    url = URL(filePath: "/proc/\(holder.identifier)/root\(mountPoint.path)/disk")
    try Folder.create(url.path)
  }

  /// The location of a file on the disk.
  public func file(_ name: String) -> URL { url.appending(path: name) }

  /// The folder for a program that ``entering`` starts.
  public var mounted: URL { mountPoint.file("disk") }

  /// A command that starts the program behind it where the disk is mounted. Programs that resolve links, such as SQLite,
  /// can't use the disk through `/proc`.
  public var entering: [String] {
    ["nsenter", "--user", "--mount", "--preserve-credentials", "--target", "\(holder.identifier)"]
  }

  /// The number of free bytes.
  public var available: Int64 { get throws { try Folder.availableBytes(url.path) } }

  /// Fills the disk so that `bytes` remain free. Replaces an earlier filling.
  public func fill(leaving bytes: Int64 = 0) throws {
    while true {
      try Folder.removeIfPresent(filler.path)
      let count = max(0, try available - bytes)
      do {
        // Unlike one of Foundation, this file is not passed to programs that other tests start meanwhile. The disk
        // would remain full until they end.
        let file = try File(filler.path, .create(mode: 0o600))
        return try file.write([UInt8](repeating: 0xF1, count: Int(count)), at: 0)
      } catch  where error.isOutOfSpace {
        // Another program has used some of it meanwhile.
      }
    }
  }

  /// Creates empty files until no more than `inodes` are free.
  public func useInodes(leaving inodes: Int64 = 0) throws {
    try Folder.create(emptyFiles.path)
    while try Folder.capacity(of: url.path).freeFiles > inodes {
      _ = try File(emptyFiles.appending(path: UUID().uuidString).path, .create(mode: 0o600))
    }
  }

  /// Removes the filling of ``fill(leaving:)`` and ``useInodes(leaving:)``.
  public func empty() throws {
    try Folder.removeIfPresent(filler.path)
    try Folder.removeTree(emptyFiles.path)
  }

  /// The filling is beside the folder that a test uses.
  private var filler: URL { url.deletingLastPathComponent().appending(path: "filler") }
  private var emptyFiles: URL { url.deletingLastPathComponent().appending(path: "empty") }
}
