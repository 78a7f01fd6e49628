package import SnapshotStore
import SystemIO

/// Stores the progress of a scrub in a file.
package struct ScrubProgressFile: ScrubProgressStore {
  private let path: String
  private let queue = ServerQueues.shared.maintenance

  /// Uses the file at `path`, which need not exist.
  package init(_ path: String) { self.path = path }

  package func load() async throws -> ScrubProgress? {
    try await queue.perform { [path] () throws(SystemError) in
      guard try Folder.exists(path) else { return nil }
      let bytes = try File(path).read(upTo: ScrubProgress.maximumLength, at: 0)
      return ScrubProgress(String(decoding: bytes, as: UTF8.self))
    }
  }

  package func save(_ progress: ScrubProgress) async throws {
    try await queue.perform { [path] () throws(SystemError) in
      try DurableFile.replace(path, with: Array(progress.description.utf8))
    }
  }
}
