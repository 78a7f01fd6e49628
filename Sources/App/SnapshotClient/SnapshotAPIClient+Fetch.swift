public import Foundation
import HTTPTransport
import HTTPTypes
public import SnapshotFormat

extension SnapshotAPIClient {
  /// Fetches the bundle of the snapshot `id` into `file`.
  ///
  /// What arrives is kept in `<file>.partial` until it is whole and its digest is right; only then does it replace
  /// `file`, in one step. A download that broke is gone on with where it broke, by this call or, if that gives
  /// up, by the next one, in this process or another; if the server has other bytes by then it starts anew.
  /// Not for two downloads to the same `file` at once: the digest would show it, and the later one fail.
  /// - Parameter progress: told how much of the file is there.
  @discardableResult
  public func fetch(
    _ id: SnapshotID, to file: URL, progress: ProgressHandler? = nil
  ) async throws(SnapshotClientError) -> FetchedBundle {
    try await fetch(SnapshotReference(id), to: file, progress: progress)
  }

  /// Fetches the bundle of the snapshot that `reference` means into `file`, like ``fetch(_:to:progress:)``; where it
  /// is a link, by its right. The bundle is asked of this client's server, whatever server the reference names.
  @discardableResult
  public func fetch(
    _ reference: SnapshotReference, to file: URL, progress: ProgressHandler? = nil
  ) async throws(SnapshotClientError) -> FetchedBundle {
    let id = reference.id
    let query = reference.link.map { [("expires", $0.expires), ("signature", $0.signature)] } ?? []
    let request = address.request(.get, ["snapshots", "\(id).zip"], query: query)
    let partial = PartialDownload(
      of: "\(address.description) \(id)", to: file, limits: configuration.limits)
    var retries = makeRetries()
    var reached: Int64 = 0
    while true {
      let start = try await disk.run { (_) throws(SnapshotClientError) in try partial.resumption() }
      if start.offset > reached { retries.startOver() }
      reached = start.offset
      let stated: ContentDigest?
      if start.isComplete {
        stated = start.digest
      } else {
        switch await receive(request, into: partial, from: start, progress: progress) {
        case .success(let response) where [200, 206].contains(response.head.status.code):
          stated = ContentDigest(statedIn: response.head.headerFields) ?? start.digest
        case .success(let response) where response.head.status.code == 416 && start.offset > 0:
          try await disk.run { (_) throws(SnapshotClientError) in try partial.discard() }
          continue
        case .failure(.unexpectedRange) where start.offset > 0:
          try await disk.run { (_) throws(SnapshotClientError) in try partial.discard() }
          continue
        case .success(let response):
          try await retries.pause(
            after: SnapshotClientError(response, now: configuration.environment.now()),
            if: configuration.retries.allowsRepeating(.get, after: response.head.status))
          continue
        case .failure(let error):
          try await retries.pause(
            after: SnapshotClientError(error), if: configuration.retries.allowsRepeating(.get, after: error))
          continue
        }
      }
      let digest = if let stated { stated } else { try await record(id).sha256 }
      let size = try await disk.run { (isCancelled) throws(SnapshotClientError) in
        try partial.finish(expecting: digest, isCancelled: isCancelled)
      }
      if let size { return FetchedBundle(id: id, file: file, size: size, sha256: digest) }
      // Parts of two downloads may not fit together; one that came whole leaves nothing to hope for.
      guard start.offset > 0 else { throw SnapshotClientError(.digestMismatch) }
    }
  }

  /// Makes one attempt to get the rest of `partial`.
  private func receive(
    _ request: HTTPRequest, into partial: PartialDownload, from start: PartialDownload.Resumption,
    progress: ProgressHandler?
  ) async -> Result<TransportResponse, TransportError> {
    var request = request
    request.headerFields[.accept] = "application/zip, application/problem+json"
    if start.offset > 0, let tag = start.entityTag {
      request.headerFields[.range] = "bytes=\(start.offset)-"
      request.headerFields[.ifRange] = tag
    }
    return await send(
      request,
      destination: .file(partial.url, offset: start.offset, limit: configuration.limits.bundleBytes)
    ) { event in
      switch event {
      case .response(let head): partial.begin(head)
      case .progress(let state): progress?(state)
      case .informational: break
      }
    }
  }
}
