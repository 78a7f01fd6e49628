import DataSnapshots
import Foundation
import HTTPEngine
import HTTPClient
import HTTPTypes
import SystemIO

/// A small news reader, written like a real app. The line with `process` is all that snapshots require.
struct NewsApp: Sendable {
  /// The address of the newspaper's server.
  let newspaper: URL
  let transport: any Transport
  let snapshots: SnapshotMode

  /// The operations that the app requests from the newspaper, by screen.
  static let modules: [(name: String, files: [String])] = [
    ("Front page", ["feed/front-page", "weather/vienna", "user/profile"]),
    ("Sections", NewsSection.all.map { "feed/\($0.name)" }),
    ("Articles", (1...8).map { "article/\($0)" }),
    ("Markets", ["markets/quotes"]),
    ("Podcasts", ["podcasts/latest"]),
  ]

  /// The operations of the screens that the user opened: all except the podcasts.
  static let opened = modules.dropLast().flatMap(\.files)

  /// Loads one document.
  func load(_ operation: String) async throws -> Data {
    let fresh = try await download(operation)
    return snapshots.process(data: fresh, uniqueIdentifier: operation)
  }

  /// Loads the documents of all opened screens, by operation.
  func loadAll() async throws -> [String: Data] {
    var answers: [String: Data] = [:]
    for operation in Self.opened { answers[operation] = try await load(operation) }
    return answers
  }

  /// The first lines of the front page, as shown to the user.
  func frontPage() async throws -> String {
    let feed = try JSONDecoder().decode(NewsFeed.self, from: await load("feed/front-page"))
    let weather = try JSONDecoder().decode(NewsWeather.self, from: await load("weather/vienna"))
    return "\(weather.city) \(weather.now.celsius) °C · \(feed.stories.first?.headline ?? "no news")"
  }

  private func download(_ operation: String) async throws -> Data {
    let authority = "\(newspaper.host() ?? ""):\(newspaper.port ?? 80)"
    let request = HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/" + operation)
    let response = try await transport.send(
      request, body: .none, destination: .memory(limit: 4 << 20), timeouts: .init(), events: nil)
    guard response.head.status == .ok else {
      throw CommandFailure("The newspaper answered \(response.head.status) for \(operation).")
    }
    return response.body
  }
}

/// The public API of the sample newspaper. It serves every path of the current edition.
final class NewsServer: HTTPHandler {
  private let edition: Lock<NewsEdition>

  init(_ edition: NewsEdition) { self.edition = Lock(edition) }

  /// Publishes another edition: the same paths return other bytes from now on.
  func publish(_ next: NewsEdition) { edition.withLock { $0 = next } }

  func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    let document = edition.withLock { $0.documents[String(request.path.dropFirst())] }
    guard let document else { return HTTPServerResponse(status: .notFound) }
    return HTTPServerResponse(
      status: .ok, headerFields: [.contentType: "application/json"], body: .bytes(Array(document)))
  }
}
