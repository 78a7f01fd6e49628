package import Foundation
import HTTPEngine
import HTTPSemantics
package import HTTPClient
import HTTPTypes

/// The live server, which answers what was not recorded.
package struct ReplayUpstream: Sendable {
  /// Fields of a request that are for the replay server, or that only the transport sets.
  private static let own: Set<HTTPField.Name> = [
    .acceptEncoding, .connection, .contentLength, .expect, .origin, .referer, .te, .trailer,
    .transferEncoding,
    .upgrade,
  ]

  /// The address, such as `https://api.example.com/v2`.
  package let url: URL
  private let transport: any Transport
  private let scheme: String
  private let authority: String
  private let path: String

  /// Creates the description of a live server; `nil` if `url` is not an HTTP address without query and user.
  package init?(_ url: URL, transport: any Transport) {
    guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
      let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https",
      let host = parts.encodedHost, !host.isEmpty, parts.query == nil, parts.user == nil
    else { return nil }
    self.url = url
    self.transport = transport
    self.scheme = scheme
    authority = host.lowercased() + (parts.port.map { ":\($0)" } ?? "")
    let path = parts.percentEncodedPath
    self.path = path.hasSuffix("/") ? String(path.dropLast()) : path
  }

  /// The scheme and host.
  var origin: String { "\(scheme)://\(authority)" }

  /// Sends the request, and returns the answer. Follows no redirect. Throws 502 if there is no answer.
  func response(
    to request: HTTPServerRequest, _ target: String, body: [UInt8]
  ) async throws -> HTTPServerResponse {
    var fields: HTTPFields = [:]
    for field in request.headerFields where !Self.own.contains(field.name) { fields.append(field) }
    let sent = HTTPRequest(
      method: request.method, scheme: scheme, authority: authority, path: path + target, headerFields: fields)
    let received: TransportResponse
    do {
      received = try await transport.send(
        sent, body: body.isEmpty ? .none : .bytes(Data(body)),
        destination: .memory(limit: Int(ReplayLimits.answerBytes)), timeouts: TransportTimeouts(), events: nil
      )
    } catch .cancelled {
      throw HTTPBodyError.disconnected
    } catch {
      throw HTTPProblem(
        .badGateway, kind: "upstream-failed", title: "The live server did not answer",
        detail: "The request was not recorded, and \(origin) \(Self.words(error)).")
    }
    var answer = ReplayedFields.of(
      received.head.headerFields.map { ($0.name.rawName, $0.value) }, keeping: ["content-encoding"])
    if let place = answer[.location] {
      answer[.location] = ReplayedFields.location(withoutPath(place), [origin], request)
    }
    return HTTPServerResponse(
      status: HTTPResponse.Status(integerLiteral: received.head.status.code), headerFields: answer,
      body: received.body.isEmpty ? .empty : .bytes([UInt8](received.body)))
  }

  /// Returns the target of a redirect without the path of the live server, which each request gets.
  private func withoutPath(_ place: String) -> String {
    guard !path.isEmpty else { return place }
    if place.hasPrefix(path + "/") { return String(place.dropFirst(path.count)) }
    guard place.hasPrefix(origin + path + "/") else { return place }
    return origin + place.dropFirst(origin.count + path.count)
  }

  /// The error as the end of a sentence.
  private static func words(_ error: TransportError) -> String {
    switch error {
    case .connectionFailed(let reason): "could not be reached: \(reason)"
    case .untrusted(let reason): "has a certificate that is not trusted: \(reason)"
    case .timedOut: "was too slow"
    case .interrupted(let reason): "broke off: \(reason)"
    case .responseTooLarge(let limit): "answered with more than \(limit) bytes"
    case .invalidRequest(let reason): "can't be asked: \(reason)"
    case .unexpectedRange, .file, .cancelled: "did not answer"
    }
  }
}
