public import Foundation
import HTTPTypes
public import SnapshotFormat

extension SnapshotAPIClient {
  /// A link with which people without a token can attach snapshots to one report, and see nothing else.
  public struct AttachLink: Sendable, Hashable, Codable, Identifiable {
    /// The id of the link, as in the server's audit log and in `attachedBy` of the snapshots' records.
    public let id: String
    /// The report.
    public let report: String
    /// Whether the link can be used: `valid`, `expired` or `revoked`.
    public let state: String
    /// When the link was made.
    public let createdAt: Date
    /// When the link expires.
    public let expiresAt: Date?
    /// The id of the token that made the link.
    public let createdBy: String
    /// The number of snapshots that can be attached.
    public let count: Int
    /// The number of bytes that these can have together.
    public let bytes: Int64
    /// The number of snapshots that were attached.
    public let usedCount: Int
    /// The number of bytes that these have together.
    public let usedBytes: Int64
  }

  /// A link that was just made. Only this value has its secret, which the server does not store.
  public struct NewAttachLink: Sendable, Hashable, Codable {
    /// The URL of the link's page. It allows attaching, so it must not be logged.
    public let url: URL
    /// The token with which the API accepts uploads.
    public let token: String
    /// The properties of the link.
    public let link: AttachLink
  }

  /// Creates a link to attach to `report`. The server has limits for the numbers, and values for those that are `nil`.
  /// - Parameters:
  ///   - report: the report; the link is for no other.
  ///   - seconds: how long the link is valid.
  ///   - count: how many snapshots can be attached.
  ///   - bytes: how many bytes these can have together.
  public func makeAttachLink(
    to report: ReportID, seconds: Int? = nil, count: Int? = nil, bytes: Int64? = nil
  ) async throws(SnapshotClientError) -> NewAttachLink {
    var query: [(name: String, value: String)] = []
    if let seconds { query.append(("seconds", "\(seconds)")) }
    if let count { query.append(("count", "\(count)")) }
    if let bytes { query.append(("bytes", "\(bytes)")) }
    let response = try await perform(address.request(.post, Self.path(report), query: query))
    let (link, secret) = (
      try decode(AttachLink.self, from: response), try decode(Secret.self, from: response)
    )
    guard let url = address.url(of: secret.link, stated: secret.url, at: "/attach?") else {
      throw SnapshotClientError(
        .unexpectedAnswer, "it is not a link to attach", status: response.head.status.code)
    }
    return NewAttachLink(url: url, token: secret.token, link: link)
  }

  /// Returns the links to attach to `report`, newest first, with those that are no longer valid.
  public func attachLinks(to report: ReportID) async throws(SnapshotClientError) -> [AttachLink] {
    let response = try await perform(address.request(.get, Self.path(report)))
    return try decode(List.self, from: response).links
  }

  /// Revokes the link `id` to attach to `report`.
  public func revokeAttachLink(_ id: String, to report: ReportID) async throws(SnapshotClientError) {
    _ = try await perform(address.request(.delete, Self.path(report) + [id]))
  }

  private static func path(_ report: ReportID) -> [String] { ["reports", report.description, "links"] }

  private struct Secret: Decodable {
    let link: String
    let url: String?
    let token: String
  }

  private struct List: Decodable { let links: [AttachLink] }
}
