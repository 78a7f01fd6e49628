import Foundation
import HTTPSemantics
import HTTPClient
import HTTPTypes

/// Tells the responses of a snapshot server from those of something else: a proxy, a firewall, the sign-in page of a
/// network, or another kind of server.
///
/// A snapshot server describes every failure by a problem (RFC 9457) of a type of its own. A success is recognized by
/// its contents.
struct ForeignAnswer {
  private static let shownCharacters = 80

  private let response: TransportResponse

  /// - Parameter response: a response that is no success.
  /// - Returns: `nil` if a snapshot server sent it.
  init?(failure response: TransportResponse) {
    // The response to `HEAD` has no body, so that only its media type is known.
    let isOurs =
      ServerProblem.isAnnounced(by: response.head)
      && (response.body.isEmpty || ServerProblem(response) != nil)
    guard !isOurs else { return nil }
    self.response = response
  }

  /// - Parameter response: a success whose contents are not those of a snapshot server.
  init(success response: TransportResponse) { self.response = response }

  /// What the response says about its sender, as a part of a sentence: `status 403 from ‘squid/5.7’ via ‘1.1 fw’,
  /// “Access denied”`.
  var description: String {
    var text = "status \(response.head.status.code)"
    if let server = shown(response.head.headerFields[.server]) { text += " from ‘\(server)’" }
    if let via = shown(response.head.headerFields[.via]) { text += " via ‘\(via)’" }
    if let title { text += ", “\(title)”" }
    return text
  }

  /// The title of an HTML page, a text member of a JSON object, or the first line of a text.
  private var title: String? {
    let type = response.head.headerFields[.contentType].flatMap { MediaType($0) }?.essence ?? ""
    let body = String(decoding: response.body.prefix(TransportLimits.problemBytes), as: UTF8.self)
    if type.hasSuffix("json") {
      struct Fields: Decodable { let title, detail, message, error: String? }
      let fields: Fields
      // The members of another server can have any form.
      do { fields = try JSONDecoder().decode(Fields.self, from: response.body) } catch { return nil }
      return shown(fields.title ?? fields.detail ?? fields.message ?? fields.error)
    }
    if type.hasSuffix("html") || body.hasPrefix("<") {
      return ["<title", "<h1"].lazy.compactMap { tag in
        body.range(of: tag, options: .caseInsensitive).flatMap { found in
          shown(String(body[found.upperBound...].drop { $0 != ">" }.dropFirst().prefix { $0 != "<" }))
        }
      }.first
    }
    return type == "text/plain" ? shown(body.split(whereSeparator: \.isNewline).first.map(String.init)) : nil
  }

  private func shown(_ text: String?) -> String? {
    guard let text else { return nil }
    let words = text.shown(limit: 10 * Self.shownCharacters).split(separator: " ").joined(separator: " ")
    guard !words.isEmpty else { return nil }
    return words.count > Self.shownCharacters ? words.prefix(Self.shownCharacters) + "…" : words
  }
}

extension HTTPField.Name {
  /// `Via` (RFC 9110 §7.6.3).
  fileprivate static let via = constant("Via")
}

extension String {
  /// The first `limit` characters of an untrusted text, on one line: characters that could imitate or hide other
  /// text (controls, line separators, directions of writing) are replaced by spaces.
  func shown(limit: Int) -> String {
    var result = ""
    for scalar in unicodeScalars.prefix(limit) {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: result.unicodeScalars.append(" ")
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
