import Foundation

/// What a server says of a request that it did not do (RFC 9457), made fit to be shown: texts hold no control
/// characters and are cut after 1,000 characters.
public struct ServerProblem: Sendable, Hashable {
  /// The URI that names the kind of problem and never changes.
  public let type: String
  /// The kind in a few words.
  public let title: String
  /// What is wrong this time, for people.
  public let detail: String?
  /// What the server's logs call the request.
  public let requestID: String?

  /// Reads `application/problem+json`; `nil` where `body` is something else.
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
      // A proxy's page, say. The status speaks for itself then.
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
