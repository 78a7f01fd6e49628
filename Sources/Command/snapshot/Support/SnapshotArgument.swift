import Foundation
import SnapshotClient
import SnapshotFormat

extension ServerOptions {
  /// The snapshot that a person means by `text`, open to look into: one on the server by its UUID or its address, a
  /// bundle, or a snapshot's folder.
  func open(_ text: String) async throws -> OpenSnapshot {
    guard SnapshotID(text) == nil, !text.contains("://") else {
      let (snapshot, client) = try resolve(text)
      // The file stays readable for whoever has it open.
      let scratch = try ScratchFolder()
      let zip = scratch.file("bundle.zip")
      _ = try await client.fetch(snapshot, to: zip)
      return try withExtendedLifetime(scratch) { try SnapshotSource.bundle(zip).open() }
    }
    return try SnapshotSource(text).open()
  }
}

extension SnapshotSource {
  /// The snapshot, open to look into.
  func open() throws(CommandFailure) -> OpenSnapshot {
    do {
      switch self {
      case .bundle(let url): return try OpenSnapshot(zip: url)
      case .snapshotFolder(let url), .appData(let url), .plainFolder(let url):
        return try OpenSnapshot(folder: url)
      }
    } catch {
      throw CommandFailure(error.description, status: .refused)
    }
  }
}
