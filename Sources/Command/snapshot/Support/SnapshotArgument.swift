import Foundation
import SnapshotClient
import SnapshotFormat

extension ReadingOptions {
  /// Opens the snapshot that `text` refers to: the path of a bundle or of a snapshot's folder, or the name of a snapshot
  /// on a server.
  func open(_ text: String) async throws -> OpenSnapshot {
    try await withSource(text) { source in try source.open() }
  }

  /// Runs `body` with the snapshot that `text` refers to, downloaded to a temporary file if it is on a server, and
  /// opened if it is sealed. An ``OpenSnapshot`` that `body` returns stays readable after the file is removed.
  /// - Parameter opensSealed: whether a sealed bundle is opened; if not, `body` gets it as it is.
  func withSource<Value>(
    _ text: String, opensSealed: Bool = true, _ body: (SnapshotSource) throws -> Value
  ) async throws -> Value {
    let scratch = try ScratchFolder()
    let zip = scratch.file("bundle.zip")
    let source = try await fetchIfNamed(text, to: zip) != nil ? .bundle(zip) : SnapshotSource(text)
    return try withExtendedLifetime(scratch) {
      try body(opensSealed ? unsealed(source, in: scratch) : source)
    }
  }

  /// Downloads the snapshot that `text` names to `zip`, and returns it with a client of its server. Returns `nil` if the
  /// text is a path.
  ///
  /// A file or folder that exists is meant, unless the text is a UUID or an address.
  func fetchIfNamed(
    _ text: String, to zip: URL, progress: SnapshotAPIClient.ProgressHandler? = nil
  ) async throws -> (snapshot: SnapshotReference, client: SnapshotAPIClient)? {
    let isExplicit = SnapshotID(text) != nil || text.contains("://")
    guard isExplicit || !FileManager.default.fileExists(atPath: text) else { return nil }
    let name: SnapshotName
    do {
      name = try SnapshotName(text)
    } catch {
      if isExplicit || text.contains("://") { throw error }
      return nil
    }
    // A mistyped file name such as `feed2.json` is not asked for on a server.
    guard name.reference != nil || !text.contains(".") else { return nil }
    do {
      let (snapshot, client) = try await server.resolve(name)
      _ = try await client.fetch(snapshot, to: zip, progress: progress)
      return (snapshot, client)
    } catch let error where name.reference == nil {
      let failure = (error as? SnapshotClientError).map { CommandFailure($0) } ?? error as? CommandFailure
      guard let failure else { throw error }
      throw CommandFailure(
        "There is no file or folder \(text), and on the server: \(failure.description)",
        status: failure.status)
    }
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
