public import Foundation
import HTTPClient
import HTTPTypes
public import SnapshotFormat

extension SnapshotAPIClient {
  /// One page of the snapshots that are due to expire.
  public struct Expirations: Sendable, Hashable {
    /// The snapshots on this page, oldest first.
    public let expirations: [Expiration]
    /// The cursor of the next page; `nil` on the last page.
    public let next: String?
    /// Whether the server requires a confirmation before it deletes this number of snapshots.
    public let needsConfirmation: Bool
  }

  /// The result of a deletion of expired snapshots.
  public struct Expired: Decodable, Sendable, Hashable {
    /// The deleted snapshots, oldest first.
    public let expirations: [Expiration]
    /// The number of expired snapshots that remain to be deleted.
    public let remaining: Int
  }

  /// Changes how long the snapshot `id` is kept, or marks it as good. An argument of `nil` leaves that property unchanged.
  /// - Parameters:
  ///   - id: the snapshot's UUID.
  ///   - isPinned: whether the snapshot is kept even if the server's rules would delete it.
  ///   - isGood: whether the snapshot is marked as good, so that others are compared with it.
  ///   - end: when the snapshot expires.
  /// - Returns: the changed record.
  @discardableResult
  public func change(
    _ id: SnapshotID, isPinned: Bool? = nil, isGood: Bool? = nil, end: SnapshotEnd? = nil
  ) async throws(SnapshotClientError) -> SnapshotRecord {
    struct Change: Encodable {
      let pinned: Bool?
      let good: Bool?
      let expiresAt: String?
    }
    var request = address.request(.patch, ["snapshots", id.description])
    request.headerFields[.contentType] = "application/merge-patch+json"
    let body: Data
    do {
      body = try SnapshotJSON.encode(Change(pinned: isPinned, good: isGood, expiresAt: end?.description))
    } catch {
      throw SnapshotClientError(.invalidRequest, cause: error)
    }
    return try decode(SnapshotRecord.self, from: try await perform(request, body: .bytes(body)))
  }

  /// Returns one page of the snapshots that the server's rules would delete now, with the reasons. Nothing is deleted.
  /// - Parameter cursor: ``Expirations/next`` of the previous page; `nil` for the first page.
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
        .unexpectedAnswer, "its cursor of the next page is invalid", status: response.head.status.code)
    }
    return Expirations(
      expirations: answer.expirations, next: answer.next,
      needsConfirmation: answer.needsConfirmation ?? false)
  }

  /// Makes the server delete some of the snapshots that are due by its rules.
  /// - Parameter isConfirmed: whether the server may delete more than a fifth of all snapshots, and its clock is right.
  ///   Otherwise it rejects a deletion that needs this.
  public func expire(isConfirmed: Bool = false) async throws(SnapshotClientError) -> Expired {
    let query = isConfirmed ? [(name: "confirm", value: "true")] : []
    return try decode(
      Expired.self, from: try await perform(address.request(.post, ["expirations"], query: query)))
  }

  /// Starts a verification of all bundles on the server, unless one is running.
  public func startScrub() async throws(SnapshotClientError) -> ScrubReport {
    try decode(ScrubReport.self, from: try await perform(address.request(.post, ["scrub"])))
  }

  /// Returns the progress of the verification of all bundles.
  public func scrubReport() async throws(SnapshotClientError) -> ScrubReport {
    try decode(ScrubReport.self, from: try await perform(address.request(.get, ["scrub"])))
  }
}

/// The state of a server's catalog.
public struct IndexingProgress: Decodable, Sendable, Hashable {
  /// What the catalog is doing.
  public enum Status: String, Decodable, Sendable {
    /// The catalog is complete and answers queries.
    case ready
    /// The catalog is being rebuilt.
    case indexing
  }

  /// What the catalog is doing.
  public let status: Status
  /// The completed fraction, from 0 to 1, while the catalog is being rebuilt.
  public let share: Double?
  /// The number of records in the catalog so far.
  public let records: Int?
}

extension SnapshotAPIClient {
  /// A URL that gives access to one bundle without a token for a limited time.
  public struct Link: Sendable, Hashable, Codable {
    /// The URL. It gives access to the bundle, so it must not be logged.
    public let url: URL
    /// When the link expires.
    public let expiresAt: Date
  }

  /// Creates a link to the bundle of the snapshot `id` that is valid for `seconds`, at least 1; the server has a
  /// maximum. A link can be revoked only by deleting the snapshot.
  public func link(to id: SnapshotID, seconds: Int) async throws(SnapshotClientError) -> Link {
    let response = try await perform(
      address.request(
        .post, ["snapshots", id.description, "links"], query: [("seconds", "\(seconds)")]))
    let answer = try decode(LinkAnswer.self, from: response)
    guard let url = address.url(of: answer.link, stated: answer.url, at: "/v1/snapshots/\(id).zip?") else {
      throw SnapshotClientError(
        .unexpectedAnswer, "it is not a link to the bundle", status: response.head.status.code)
    }
    return Link(url: url, expiresAt: answer.expiresAt)
  }

  private struct LinkAnswer: Decodable {
    let link: String
    let url: String?
    let expiresAt: Date
  }
}
