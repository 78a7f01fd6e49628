import AccessControl
import HTTPEngine
import HTTPTypes
import SnapshotStore
import SystemIO

/// Answers plain HTTP beside HTTPS: redirects every request, except for those of an ACME server, which come before there
/// is a certificate (RFC 8555 §8.3).
struct RedirectHandler: HTTPHandler {
  private static let challenges = "/.well-known/acme-challenge/"
  /// The maximum size of the file of a challenge, in bytes.
  private static let challengeBytes = 4096

  /// The port for HTTPS.
  let port: UInt16
  /// The folder that contains `.well-known`; `nil` for none.
  let acmeFolder: String?

  func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    if let acmeFolder, request.path.hasPrefix(Self.challenges) {
      return try await challenge(
        String(request.path.dropFirst(Self.challenges.count)), of: request, in: acmeFolder)
    }
    guard let host = Self.host(of: request.authority), request.path.hasPrefix("/") else {
      throw HTTPProblem.badRequest("Use HTTPS. The request has no Host to which it could be redirected.")
    }
    let target = request.path + (request.query.map { "?" + $0 } ?? "")
    return HTTPServerResponse(
      status: .permanentRedirect,
      headerFields: [.location: "https://\(host)\(port == 443 ? "" : ":\(port)")\(target)"])
  }

  /// The host of an authority without its port.
  static func host(of authority: String) -> String? {
    guard !authority.isEmpty else { return nil }
    if authority.hasPrefix("[") {
      return authority.firstIndex(of: "]").map { String(authority[...$0]) }
    }
    let host = authority.prefix { $0 != ":" }
    return host.isEmpty ? nil : String(host)
  }

  private func challenge(
    _ token: String, of request: HTTPServerRequest, in folder: String
  ) async throws -> HTTPServerResponse {
    guard [.get, .head].contains(request.method) else {
      throw HTTPProblem.methodNotAllowed(request.method, allowed: "GET, HEAD")
    }
    // The alphabet of tokens (RFC 8555 §8.3) contains no character that leads to another folder.
    guard !token.isEmpty, token.utf8.allSatisfy(Self.isTokenByte) else { throw HTTPProblem.noSuchPath() }
    let bytes = await ServerQueues.shared.readers.next.perform { Self.read(folder + Self.challenges + token) }
    guard let bytes else { throw HTTPProblem.noSuchPath() }
    return HTTPServerResponse(
      status: .ok, headerFields: [.contentType: "application/octet-stream"], body: .bytes(bytes))
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// Reads a small regular file; `nil` if there is none.
  private static func read(_ path: String) -> [UInt8]? {
    do {
      let file = try File(path)
      guard try file.isRegular, try file.size <= challengeBytes else { return nil }
      return try file.read(upTo: challengeBytes, at: 0)
    } catch {
      return nil
    }
  }
}
