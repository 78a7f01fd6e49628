import Foundation

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

  /// Decodes `application/problem+json`; returns `nil` if `body` is something else.
  init?(_ body: Data) {
    struct Fields: Decodable {
      var type: String?
      var title: String?
      var detail: String?
      var requestID: String?
    }
    guard !body.isEmpty else { return nil }
    do {
      let fields = try JSONDecoder().decode(Fields.self, from: body)
      guard let title = fields.title ?? fields.detail else { return nil }
      type = Self.shown(fields.type ?? "about:blank")
      self.title = Self.shown(title)
      detail = fields.detail.map(Self.shown)
      requestID = fields.requestID.map(Self.shown)
    } catch {
      // For example a proxy's error page; the status is reported instead.
      return nil
    }
  }

  private static let shownCharacters = 1000

  private static func shown(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars.prefix(shownCharacters) {
      result.unicodeScalars.append(scalar.properties.generalCategory == .control ? " " : scalar)
    }
    return result
  }
}
