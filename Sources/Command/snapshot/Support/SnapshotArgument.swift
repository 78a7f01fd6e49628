import Foundation
import SnapshotClient
import SnapshotFormat

extension ServerOptions {
  /// Opens the snapshot that `text` refers to: a UUID on the server, the address of a bundle, a bundle, or a snapshot's
  /// folder.
  func open(_ text: String) async throws -> OpenSnapshot {
    try await withSource(text) { source in try source.open() }
  }

  /// Runs `body` with the snapshot that `text` refers to, downloaded to a temporary file if it is on a server. An
  /// ``OpenSnapshot`` that `body` returns stays readable after the file is removed.
  func withSource<Value>(_ text: String, _ body: (SnapshotSource) throws -> Value) async throws -> Value {
    guard SnapshotID(text) != nil || text.contains("://") else { return try body(SnapshotSource(text)) }
    let (snapshot, client) = try resolve(text)
    let scratch = try ScratchFolder()
    let zip = scratch.file("bundle.zip")
    _ = try await client.fetch(snapshot, to: zip)
    return try withExtendedLifetime(scratch) { try body(.bundle(zip)) }
  }
}

extension SnapshotSource {
  /// Opens the snapshot for reading.
  func open() throws(CommandFailure) -> OpenSnapshot {
    do {
      switch self {
      case .bundle(let url): return try OpenSnapshot(zip: url)
      case .snapshotFolder(let url), .appData(let url), .plainFolder(let url):
        return try OpenSnapshot(folder: url)
      case .plainFile(let url): throw Self.notASnapshot(url)
      }
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure("\(error)", status: .refused)
    }
  }
}
