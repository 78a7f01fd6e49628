public import Foundation
import HTTPTransport
import HTTPTypes
public import SnapshotFormat

extension SnapshotAPIClient {
  /// An address under which anybody may download one bundle for some time.
  public struct Link: Sendable, Hashable, Codable {
    /// The address. Whoever has it has the bundle, so it belongs into no log.
    public let url: URL
    /// When it ends.
    public let expiresAt: Date
  }

  /// Makes a link to the bundle of the snapshot `id` that works for `seconds`, at least 1; the server says how many
  /// at most. It can't be taken back, but by deleting the snapshot.
  public func link(to id: SnapshotID, seconds: Int) async throws(SnapshotClientError) -> Link {
    let response = try await perform(
      address.request(
        .post, ["snapshots", id.description, "links"], query: [("seconds", "\(seconds)")]))
    let answer = try decode(LinkAnswer.self, from: response)
    guard answer.link.hasPrefix("/v1/snapshots/\(id).zip?"), let url = URL(string: server + answer.link)
    else {
      throw SnapshotClientError(
        .unexpectedAnswer, "it is no link to the bundle", status: response.head.status.code)
    }
    return Link(url: url, expiresAt: answer.expiresAt)
  }

  private struct LinkAnswer: Decodable {
    let link: String
    let expiresAt: Date
  }
}
