import HTTPEngine
import HTTPSemantics
import HTTPTypes
import TestSupport

/// Runs `body` with a server that has a greeting, an echo, a representation of ten bytes, a stream, and routes that
/// return the request as seen by the handler.
func withRoutes(_ body: @escaping @Sendable (Exchanges) throws -> Void) async throws {
  let router = Router([
    Route(.get, "/") { _ in HTTPServerResponse(status: .ok, body: .bytes(Array("hello".utf8))) },
    Route(.post, "/") { try await echo($0.request) },
    Route(.get, "/file") {
      try Representation(
        .bytes(Array("0123456789".utf8)), contentType: "text/plain", entityTag: .strong("tag"),
        lastModified: HTTPDate(secondsSince1970: 784_111_777), headerFields: [.cacheControl: "private"]
      ).response(to: $0.request)
    },
    Route(.get, "/fields") { routed in
      let lines = routed.request.headerFields.map { "\($0.name.canonicalName)=\($0.value)\n" }.sorted()
      return HTTPServerResponse(status: .ok, body: .bytes(Array(lines.joined().utf8)))
    },
    Route(.put, "/fields") { routed in
      _ = try await routed.request.body.collect(upTo: 1000)
      let names = routed.request.headerFields.map(\.name.canonicalName).sorted().joined(separator: " ")
      return HTTPServerResponse(status: .ok, body: .bytes(Array(names.utf8)))
    },
    Route(.get, "/target") { routed in
      let request = routed.request
      let text = "\(request.authority) \(request.path) \(request.query ?? "-")"
      return HTTPServerResponse(status: .ok, body: .bytes(Array(text.utf8)))
    },
    Route(.get, "/stream") { _ in
      let counter = Counter()
      return HTTPServerResponse(
        status: .ok,
        body: .stream {
          counter.add()
          return counter.value > 3 ? nil : Array("abc".utf8)
        })
    },
  ])
  try await withServer(handler: { try await router.respond(to: $0) }) { _, port in
    try await RawHTTPClient.run { try body(Exchanges(port: port)) }
  }
}

/// Exchanges requests and responses with a server, each on its own connection.
struct Exchanges {
  let port: UInt16

  func answer(to request: String, toHEAD: Bool = false) throws -> RawHTTPClient.Response {
    let client = try RawHTTPClient(port: port)
    try client.send(request)
    return try client.receiveResponse(toHEAD: toHEAD)
  }

  func answer(_ method: String, _ path: String, _ fields: [String] = []) throws -> RawHTTPClient.Response {
    let lines = fields.map { $0 + "\r\n" }.joined()
    return try answer(
      to: "\(method) \(path) HTTP/1.1\r\nHost: a\r\n\(lines)\r\n", toHEAD: method == "HEAD")
  }

  /// Returns all bytes received on one connection until it closes.
  func everything(after request: String) throws -> String {
    let client = try RawHTTPClient(port: port)
    try client.send(request)
    client.endSending()
    return String(decoding: try client.receiveAll(), as: UTF8.self)
  }
}
