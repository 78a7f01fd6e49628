import Foundation
import HTTPEngine
import HTTPTypes
import Synchronization

/// The sample newspaper's public API: answers every path of its current edition.
final class NewsServer: HTTPHandler {
  private let edition: Mutex<NewsEdition>

  init(_ edition: NewsEdition) { self.edition = Mutex(edition) }

  /// The next day comes: from now on the same paths give other bytes.
  func publish(_ next: NewsEdition) { edition.withLock { $0 = next } }

  func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    let document = edition.withLock { $0.documents[String(request.path.dropFirst())] }
    guard let document else { return HTTPServerResponse(status: .notFound) }
    return HTTPServerResponse(
      status: .ok, headerFields: [.contentType: "application/json"], body: .bytes(Array(document)))
  }
}
