import Crypto
import Foundation
import HTTPEngine
import HTTPTypes
import Logging
import StoreTesting
import SystemIO
import Testing

/// A receiver of events on loopback, which records them.
final class WebhookReceiver: HTTPHandler {
  struct Received: Sendable, Hashable {
    var path: String
    var id: String
    var timestamp: String
    var signatures: [String]
    var body: String
  }

  private let requests = Lock<[Received]>([])
  private let respond: @Sendable (Received, Int) -> HTTPServerResponse

  /// - Parameter respond: makes the response to a request; gets the number of earlier requests.
  init(_ respond: @escaping @Sendable (Received, Int) -> HTTPServerResponse) { self.respond = respond }

  var received: [Received] { requests.withLock { $0 } }

  func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    func field(_ name: String) -> String { HTTPField.Name(name).flatMap { request.headerFields[$0] } ?? "" }
    let received = Received(
      path: request.path, id: field("webhook-id"), timestamp: field("webhook-timestamp"),
      signatures: field("webhook-signature").split(separator: " ").map(String.init),
      body: String(decoding: try await request.body.collect(upTo: 1 << 20), as: UTF8.self))
    let count = requests.withLock { requests in
      requests.append(received)
      return requests.count - 1
    }
    return respond(received, count)
  }

  /// Runs a receiver on a free port, and passes it and its port to `body`.
  static func run<Result>(
    _ respond: @escaping @Sendable (Received, Int) -> HTTPServerResponse = { _, _ in
      HTTPServerResponse(status: .noContent)
    },
    _ body: (WebhookReceiver, UInt16) async throws -> Result
  ) async throws -> Result {
    let receiver = WebhookReceiver(respond)
    var configuration = HTTPServer.Configuration(port: 0)
    configuration.eventLoops = 1
    let server = HTTPServer(configuration: configuration, handler: receiver, logger: .quiet)
    let port = try await server.start().port
    do {
      let result = try await body(receiver, port)
      await server.shutdown(deadline: .zero)
      return result
    } catch {
      await server.shutdown(deadline: .zero)
      throw error
    }
  }
}

extension WebhookReceiver.Received {
  /// The signature that the standard requires, computed from what was received.
  func expectedSignature(secret: String) throws -> String {
    let key = try #require(Data(base64Encoded: String(secret.dropFirst("whsec_".count))))
    let code = HMAC<SHA256>.authenticationCode(
      for: Data("\(id).\(timestamp).\(body)".utf8), using: SymmetricKey(data: key))
    return "v1," + Data(code).base64EncodedString()
  }

  /// A member of the JSON body by its path.
  func value(_ path: String...) throws -> Any? {
    var value: Any? = try JSONSerialization.jsonObject(with: Data(body.utf8))
    for name in path { value = (value as? [String: Any])?[name] }
    return value
  }
}

extension HTTPServerResponse {
  static func status(_ code: Int, _ fields: HTTPFields = [:]) -> HTTPServerResponse {
    HTTPServerResponse(status: .init(code: code), headerFields: fields)
  }
}
