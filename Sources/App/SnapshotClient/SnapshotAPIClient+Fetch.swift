public import Foundation
import HTTPSemantics
import HTTPClient
import HTTPTypes
public import SnapshotFormat

extension SnapshotAPIClient {
  /// Downloads the bundle of the snapshot `id` to `file`.
  ///
  /// The received bytes are stored in `<file>.partial` until the download is complete and its digest is verified; then
  /// the partial file atomically replaces `file`. A broken download is resumed by this call or, after this call has
  /// failed, by a later one, in this process or another one. If the bytes on the server have changed, it starts from
  /// the beginning. Don't run two downloads to the same `file` at the same time: the digest would not match, and the
  /// later one would fail.
  /// - Parameters:
  ///   - id: the snapshot's UUID.
  ///   - file: the location of the bundle. Its folder must exist.
  ///   - progress: called with the progress.
  @discardableResult
  public func fetch(
    _ id: SnapshotID, to file: URL, progress: ProgressHandler? = nil
  ) async throws(SnapshotClientError) -> FetchedBundle {
    try await fetch(SnapshotReference(id), to: file, progress: progress)
  }

  /// Downloads the bundle of the snapshot that `reference` identifies to `file`, as ``fetch(_:to:progress:)`` does. If
  /// the reference is a link, its signature authorizes the download. The request is sent to this client's server, even
  /// if the reference contains another one.
  @discardableResult
  public func fetch(
    _ reference: SnapshotReference, to file: URL, progress: ProgressHandler? = nil
  ) async throws(SnapshotClientError) -> FetchedBundle {
    let id = reference.id
    let query = reference.link.map { [("expires", $0.expires), ("signature", $0.signature)] } ?? []
    let request = address.request(.get, ["snapshots", "\(id).zip"], query: query)
    let partial = PartialDownload(
      of: "\(address.description) \(id)", to: file, limits: configuration.limits)
    defer { partial.stopVerifying() }
    var retries = makeRetries()
    var (reached, restarts): (Int64, Int) = (0, 0)
    while true {
      let start = try await disk.run { (_) throws(SnapshotClientError) in try partial.resumption() }
      // Bytes that arrive again after a restart are no progress, and neither are a few on each connection.
      if start.offset - reached >= RetryPolicy.leastProgress {
        retries.startOver()
        reached = start.offset
      }
      let mayRestart = start.offset > 0 && restarts < RetryPolicy.maximumRestarts
      let stated: ContentDigest?
      if start.isComplete {
        stated = start.digest
      } else {
        switch await receive(request, into: partial, from: start, progress: progress) {
        case .success(let response) where [200, 206].contains(response.head.status.code):
          stated = ContentDigest(statedIn: response.head.headerFields) ?? start.digest
        case .success(let response) where response.head.status.code == 416 && mayRestart:
          try await disk.run { (_) throws(SnapshotClientError) in try partial.discard() }
          restarts += 1
          continue
        case .failure(.unexpectedRange) where mayRestart:
          try await disk.run { (_) throws(SnapshotClientError) in try partial.discard() }
          restarts += 1
          continue
        case .success(let response):
          try await retries.pause(
            after: failure(response),
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
      // Parts of two downloads can be inconsistent, so the download starts again. A download in one part is not
      // repeated.
      guard mayRestart else { throw SnapshotClientError(.digestMismatch) }
      restarts += 1
    }
  }

  /// Makes one attempt to download the remaining bytes of `partial`. If the server redirects, they are read from there,
  /// without the token; the digest is still the one that the server stated.
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
    let events: @Sendable (TransportEvent) -> Void = { event in
      switch event {
      case .response(let head): partial.begin(head)
      case .progress(let state):
        partial.verify(upTo: state.completed)
        progress?(state)
      case .informational: break
      }
    }
    let destination = TransportDestination.file(
      partial.url, offset: start.offset, limit: configuration.limits.bundleBytes)
    let answer = await send(request, destination: destination, events: events)
    guard case .success(let response) = answer, let next = request.redirected(by: response.head) else {
      return answer
    }
    return await send(next, destination: destination, sendsToken: false, events: events).map { last in
      var last = last
      last.head.headerFields[.reprDigest] = response.head.headerFields[.reprDigest]
      return last
    }
  }
}

/// A downloaded bundle with a verified digest.
public struct FetchedBundle: Sendable, Hashable {
  /// The snapshot's UUID.
  public let id: SnapshotID
  /// The path of the zip file.
  public let file: URL
  /// The size in bytes.
  public let size: Int64
  /// The verified digest of the bytes.
  public let sha256: ContentDigest
}

extension HTTPRequest {
  /// The request that a response with status 307 to this one asks for; `nil` for any other response, and if the address
  /// is not a complete one or would be read in clear text after HTTPS.
  func redirected(by response: HTTPResponse) -> HTTPRequest? {
    guard response.status == .temporaryRedirect, let text = response.headerFields[.location],
      // The address is signed, so it is sent as it was received, and only checked here.
      let url = URL(string: text), let host = url.host(), !host.isEmpty, url.user == nil, url.fragment == nil,
      let start = text.firstRange(of: "://")
    else { return nil }
    let scheme = text[..<start.lowerBound].lowercased()
    guard scheme == "https" || scheme == "http" && self.scheme == "http" else { return nil }
    let authority = text[start.upperBound...].prefix { $0 != "/" && $0 != "?" }
    let target = text[authority.endIndex...]
    var request = self
    request.scheme = scheme
    request.authority = String(authority)
    request.path = target.hasPrefix("/") ? String(target) : "/\(target)"
    return request
  }
}
