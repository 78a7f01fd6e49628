import Foundation
import HTTPSemantics
import HTTPClient
import HTTPTypes
import SnapshotFormat
import SystemIO

/// An incomplete download. Its bytes are in `<file>.partial`; `<file>.partial.json` identifies their source, so that
/// another process can resume the download.
struct PartialDownload: Sendable {
  /// The state from which a download is resumed.
  struct Resumption: Sendable {
    var offset: Int64 = 0
    var entityTag: String?
    var digest: ContentDigest?
    var isComplete = false
  }

  private struct State: Codable {
    var source: String
    var entityTag: String
    var size: Int64?
    var sha256: ContentDigest?
  }

  /// The file that contains the received bytes.
  let url: URL
  private let file: URL
  private let stateURL: URL
  private let source: String
  private let limits: ClientLimits
  private let digest: GrowingDigest

  /// A download of `source` to `file`.
  init(of source: String, to file: URL, limits: ClientLimits) {
    self.source = source
    self.file = file
    self.limits = limits
    url = URL(filePath: file.path + ".partial")
    stateURL = URL(filePath: file.path + ".partial.json")
    digest = GrowingDigest(of: url.path)
  }

  /// Returns the state of the download. It starts from the beginning if the stored bytes have another source or their
  /// source is unknown.
  func resumption() throws(SnapshotClientError) -> Resumption {
    try mapped {
      guard let state = try readState(), state.source == source, Folder.isRegularFile(url.path) else {
        return Resumption()
      }
      let size = try File(url.path, .read).size
      guard size > 0, size <= state.size ?? .max else { return Resumption() }
      return Resumption(
        offset: size, entityTag: state.entityTag, digest: state.sha256, isComplete: size == state.size)
    }
  }

  /// Stores the source of the response's bytes, before any of them are written.
  func begin(_ head: HTTPResponse) {
    guard head.status.code == 200 else { return }
    digest.restart()
    do {
      // Only a strong validator guarantees identical bytes (RFC 9110 §13.1.5).
      guard let tag = head.headerFields[.eTag], EntityTag(tag)?.isWeak == false,
        tag.utf8.count <= limits.entityTagBytes
      else {
        return try Folder.removeIfPresent(stateURL.path)
      }
      let state = State(
        source: source, entityTag: tag, size: head.headerFields[.contentLength].flatMap { Int64($0) },
        sha256: ContentDigest(statedIn: head.headerFields))
      try SnapshotJSON.encode(state).write(to: stateURL, options: .atomic)
    } catch {
      // The download continues, but can't be resumed later. An outdated state is detected by its entity tag.
    }
  }

  /// Starts to verify the first `count` bytes, which have been written.
  func verify(upTo count: Int64) { digest.follow(to: count) }

  /// Ends the work that ``verify(upTo:)`` has started.
  func stopVerifying() { digest.stop() }

  /// Moves the download to its final path if its digest is `expected`.
  /// - Returns: the size in bytes; `nil` if the digest differs, in which case the partial download is removed.
  func finish(
    expecting expected: ContentDigest, isCancelled: () -> Bool
  ) throws(SnapshotClientError) -> Int64? {
    let (size, sha256) = try mapped { try digest.finish(isCancelled: isCancelled) }
    guard !isCancelled() else { throw SnapshotClientError(.cancelled) }
    guard sha256 == expected else {
      try discard()
      return nil
    }
    return try mapped {
      let whole = try File(url.path, .update)
      guard try whole.size == size else { throw SnapshotClientError(.file, "\(url.path) was changed") }
      try whole.synchronize()
      try Folder.replace(file.path, with: url.path)
      try Folder.removeIfPresent(stateURL.path)
      try Folder.synchronize(Folder.parent(of: file.path))
      return size
    }
  }

  /// Removes the partial download.
  func discard() throws(SnapshotClientError) {
    digest.restart()
    try mapped {
      try Folder.removeIfPresent(stateURL.path)
      try Folder.removeIfPresent(url.path)
    }
  }

  private func readState() throws -> State? {
    guard Folder.isRegularFile(stateURL.path) else { return nil }
    let file = try File(stateURL.path, .read)
    let size = try file.size
    guard size <= limits.resumptionBytes else { return nil }
    do {
      return try SnapshotJSON.decode(State.self, from: Data(file.read(upTo: Int(size), at: 0)))
    } catch is DecodingError {
      return nil
    }
  }

  private func mapped<Value>(_ work: () throws -> Value) throws(SnapshotClientError) -> Value {
    do {
      return try work()
    } catch let error as SnapshotClientError {
      throw error
    } catch let error as SystemError {
      throw SnapshotClientError(.file, error.description, cause: error)
    } catch {
      throw SnapshotClientError(.file, cause: error)
    }
  }
}
