import Foundation
import HTTPEngine
import HTTPTypes
import SnapshotSettings
import SystemIO
import Testing

/// Sends requests to the page without a socket.
struct PageVisitor {
  struct Answer {
    let status: Int
    let fields: HTTPFields
    let text: String
  }

  static let authority = "127.0.0.1:4000"
  /// The field of a request that the page itself makes.
  static let ownPage: HTTPFields = [.origin: "http://\(authority)"]

  private let page: BetaSettingsPage

  init(_ page: BetaSettingsPage) { self.page = page }

  func send(
    _ method: HTTPRequest.Method = .get, _ path: String, query: String? = nil,
    authority: String = Self.authority, _ fields: HTTPFields = [:], cookie: String? = nil,
    body: String? = nil, type: String = "application/x-www-form-urlencoded"
  ) async throws -> Answer {
    var fields = fields
    if let cookie { fields[.cookie] = cookie }
    if body != nil { fields[.contentType] = type }
    let pieces = PieceList(body.map { [IOBuffer(Array($0.utf8)[...])] } ?? [])
    let request = HTTPServerRequest(
      method: method, path: path, query: query, authority: authority, headerFields: fields,
      body: body.map { HTTPRequestBody(declaredLength: Int64($0.utf8.count)) { pieces.next() } } ?? .empty)
    let response = try await page.respond(to: request)
    guard case .bytes(let bytes) = response.body else {
      return Answer(status: response.status.code, fields: response.headerFields, text: "")
    }
    return Answer(
      status: response.status.code, fields: response.headerFields,
      text: String(decoding: bytes, as: UTF8.self))
  }

  /// Opens the page by a link. Returns the cookie.
  func enter() async throws -> String {
    let answer = try await send(.get, "/", query: "token=\(page.makeToken())")
    #expect(answer.status == 200)
    let cookie = try #require(answer.fields[.setCookie])
    return String(cookie.prefix { $0 != ";" })
  }

  /// Sends a form of the page.
  func post(_ path: String, _ body: String, cookie: String) async throws -> Answer {
    try await send(.post, path, Self.ownPage, cookie: cookie, body: body)
  }
}

/// Returns each piece of a body once.
private final class PieceList: Sendable {
  private let pieces: Lock<[IOBuffer]>

  init(_ pieces: [IOBuffer]) { self.pieces = Lock(pieces) }

  func next() -> IOBuffer? { pieces.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
