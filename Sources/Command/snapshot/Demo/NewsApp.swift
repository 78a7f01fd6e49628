import DataSnapshots
import Foundation
import HTTPTransport
import HTTPTypes

/// A small news reader, as an app team would write it; the line with `process` is all that snapshots ask of it.
struct NewsApp: Sendable {
  /// The newspaper's address.
  let newspaper: URL
  let transport: any Transport
  let snapshots: SnapshotMode

  /// What the app asks the newspaper for, and which screen needs it.
  static let modules: [(name: String, files: [String])] = [
    ("Front page", ["feed/front-page", "weather/vienna", "user/profile"]),
    ("Sections", NewsSection.all.map { "feed/\($0.name)" }),
    ("Articles", (1...8).map { "article/\($0)" }),
    ("Markets", ["markets/quotes"]),
    ("Podcasts", ["podcasts/latest"]),
  ]

  /// The operations of the screens that the user opened; nobody listened to podcasts.
  static let opened = modules.dropLast().flatMap(\.files)

  /// Loads one document.
  func load(_ operation: String) async throws -> Data {
    let fresh = try await download(operation)
    return snapshots.process(data: fresh, uniqueIdentifier: operation)
  }

  /// Loads everything that the user's screens need, by operation.
  func loadAll() async throws -> [String: Data] {
    var answers: [String: Data] = [:]
    for operation in Self.opened { answers[operation] = try await load(operation) }
    return answers
  }

  /// The first lines of the front page, as the user sees them.
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
