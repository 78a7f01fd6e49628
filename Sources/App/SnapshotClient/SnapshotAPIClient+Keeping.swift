import Foundation
import HTTPTransport
import HTTPTypes
public import SnapshotFormat

extension SnapshotAPIClient {
  /// One page of what goes by itself.
  public struct Expirations: Sendable, Hashable {
    /// What goes, the oldest first.
    public let expirations: [Expiration]
    /// What to ask the next page with; `nil` on the last one.
    public let next: String?
    /// Whether the server lets so many go only when that is confirmed.
    public let needsConfirmation: Bool
  }

  /// What the server let go.
  public struct Expired: Decodable, Sendable, Hashable {
    /// What went, the oldest first.
    public let expirations: [Expiration]
    /// How many more are to go.
    public let remaining: Int
  }

  /// Says how long the snapshot `id` stays; what is `nil` is left as it is.
  /// - Parameters:
  ///   - isPinned: whether it stays whatever the server's rules say.
  ///   - end: when it goes by itself.
  /// - Returns: what the server knows of it then.
  @discardableResult
  public func change(
    _ id: SnapshotID, isPinned: Bool? = nil, end: SnapshotEnd? = nil
  ) async throws(SnapshotClientError) -> SnapshotRecord {
    struct Change: Encodable {
      let pinned: Bool?
      let expiresAt: String?
    }
    var request = address.request(.patch, ["snapshots", id.description])
    request.headerFields[.contentType] = "application/merge-patch+json"
    let body: Data
    do {
      body = try SnapshotJSON.encode(Change(pinned: isPinned, expiresAt: end?.description))
    } catch {
      throw SnapshotClientError(.invalidRequest, cause: error)
    }
    return try decode(SnapshotRecord.self, from: try await perform(request, body: .bytes(body)))
  }

  /// One page of what would go by the server's rules now, and why; nothing is changed.
  /// - Parameter cursor: the former page's ``Expirations/next``; `nil` for the first page.
  public func expirations(after cursor: String? = nil) async throws(SnapshotClientError) -> Expirations {
    let query = cursor.map { [(name: "cursor", value: $0)] } ?? []
    let response = try await perform(address.request(.get, ["expirations"], query: query))
    struct Answer: Decodable {
      let expirations: [Expiration]
      let next: String?
      let needsConfirmation: Bool?
    }
    let answer = try decode(Answer.self, from: response)
    guard answer.next == nil || answer.next != cursor,
      answer.next?.utf8.count ?? 0 <= configuration.limits.cursorBytes
    else {
      throw SnapshotClientError(
        .unexpectedAnswer, "the next page it names can't be asked for", status: response.head.status.code)
    }
    return Expirations(
      expirations: answer.expirations, next: answer.next,
      needsConfirmation: answer.needsConfirmation ?? false)
  }

  /// Has the server let go some of what is to go by its rules.
  /// - Parameter isConfirmed: whether it may be more than a fifth of all snapshots, which the server refuses else.
  public func expire(isConfirmed: Bool = false) async throws(SnapshotClientError) -> Expired {
    let query = isConfirmed ? [(name: "confirm", value: "true")] : []
    return try decode(
      Expired.self, from: try await perform(address.request(.post, ["expirations"], query: query)))
  }

  /// Has the server begin to look at every bundle, unless it is at it.
  public func startScrub() async throws(SnapshotClientError) -> ScrubReport {
    try decode(ScrubReport.self, from: try await perform(address.request(.post, ["scrub"])))
  }

  /// How far the look at every bundle has come.
  public func scrubReport() async throws(SnapshotClientError) -> ScrubReport {
    try decode(ScrubReport.self, from: try await perform(address.request(.get, ["scrub"])))
  }
}
