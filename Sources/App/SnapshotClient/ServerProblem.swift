import Foundation
import HTTPSemantics
import HTTPClient
import HTTPTypes

/// A server's description of a failed request (RFC 9457), prepared for display: control characters are replaced by
/// spaces, and texts are truncated to 1,000 characters.
public struct ServerProblem: Sendable, Hashable {
  /// The URI that identifies the type of problem; it never changes.
  public let type: String
  /// A short description of the type of problem.
  public let title: String
  /// A description of this occurrence for people.
  public let detail: String?
  /// The id of the request in the server's logs.
  public let requestID: String?

  private static let shownCharacters = 1000
  private static let ownPrefix = "urn:data-snapshots:problem:"
  /// The types of resumable uploads, which are registered with IANA (RFC 9457 §4.2).
  private static let registeredTypes = Set(
    ["mismatching-upload-offset", "completed-upload", "inconsistent-upload-length"].map {
      "https://iana.org/assignments/http-problem-types#" + $0
    })

  /// Whether `head` announces a problem.
  static func isAnnounced(by head: HTTPResponse) -> Bool {
    head.headerFields[.contentType].flatMap { MediaType($0) }?.essence == "application/problem+json"
  }

  /// Decodes the problem in `response`; returns `nil` if there is none, and if it is not one of a snapshot server.
  init?(_ response: TransportResponse) {
    struct Fields: Decodable {
      var type: String?
      var title: String?
      var detail: String?
      var requestID: String?
    }
    guard Self.isAnnounced(by: response.head), !response.body.isEmpty else { return nil }
    let fields: Fields
    do { fields = try JSONDecoder().decode(Fields.self, from: response.body) } catch { return nil }
    guard let type = fields.type, let title = fields.title ?? fields.detail else { return nil }
    // The problems of the server's HTTP engine have no type, and are recognized by the id of the request.
    let hasID = fields.requestID.map { $0 == response.head.headerFields[.xRequestID] } ?? false
    guard
      type.hasPrefix(Self.ownPrefix) || Self.registeredTypes.contains(type)
        || type == "about:blank" && hasID
    else { return nil }
    self.type = type.shown(limit: Self.shownCharacters)
    self.title = title.shown(limit: Self.shownCharacters)
    detail = fields.detail?.shown(limit: Self.shownCharacters)
    requestID = fields.requestID?.shown(limit: Self.shownCharacters)
  }

  /// Whether this is the type `urn:data-snapshots:problem:` followed by `kind`.
  func isOf(kind: String) -> Bool { type == Self.ownPrefix + kind }
}
