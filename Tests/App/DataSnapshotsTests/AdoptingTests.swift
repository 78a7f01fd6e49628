import DataSnapshots
import Foundation
import SystemIO
import TestSupport
import Testing

#if canImport(Combine)
  import Combine
#endif
#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// An API client as existing apps have it, in each style.
private struct ServerAPI: Sendable {
  func data(for path: String) async throws -> Data { Data("live".utf8) }

  func feed() async throws -> [String] { ["live"] }

  func load(_ path: String, completion: @escaping @Sendable (Result<Data, any Error>) -> Void) {
    completion(.success(Data("live".utf8)))
  }

  #if canImport(Combine)
    func publisher(for path: String) -> AnyPublisher<Data, URLError> {
      Just(Data("live".utf8)).setFailureType(to: URLError.self).eraseToAnyPublisher()
    }
  #endif
}

private final class Socket: Sendable {
  private let handler = Lock<(@Sendable (Data) -> Void)?>(nil)

  func onMessage(_ body: @escaping @Sendable (Data) -> Void) { handler.withLock { $0 = body } }

  func receive(_ text: String) { handler.withLock { $0 }?(Data(text.utf8)) }
}

/// Runs the article's lines as they are printed.
struct AdoptingTests {
  private static let article = "Sources/App/DataSnapshots/DataSnapshots.docc/AdoptingInAnExistingApp.md"

  private let app: SampleApp
  private let api = ServerAPI()

  init() throws { app = try SampleApp() }

  private func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }

  @Test func `each style replays what it recorded`() async throws {
    let snapshots = app.launch()
    // example: Launch begin
    snapshots.register(module: "News", files: ["news/feed", "news/titles", "news/photo"])
    // example: Launch end
    for (state, live, expected) in [
      (SnapshotMode.State.recording, "recorded", "recorded"), (.replaying, "live", "recorded"),
    ] {
      snapshots.state = state
      let received = Data(live.utf8)
      // example: Plain begin
      let photo = snapshots.process(data: received, uniqueIdentifier: "news/photo")
      // example: Plain end
      #expect(text(photo) == expected)
    }
    snapshots.state = .recording
    for _ in 0..<2 {
      // example: Await begin
      let feed = try await snapshots.process("news/feed") { try await api.data(for: "/feed") }
      // example: Await end
      // example: Codable begin
      let titles = try await snapshots.process("news/titles", as: [String].self) { try await api.feed() }
      // example: Codable end
      #expect(text(feed) == "live" && titles == ["live"])
      #expect(await snapshots.report().modules.first?.isComplete == true)
      snapshots.state = .replaying
    }
    #expect(app.events.all.isEmpty)
  }

  @Test func `completion handlers and messages replay what they recorded`() async throws {
    let snapshots = app.launch()
    snapshots.state = .recording
    for _ in 0..<2 {
      let result = await withCheckedContinuation { continuation in
        let completion = { @Sendable (result: Result<Data, any Error>) in
          continuation.resume(returning: result)
        }
        // example: Callback begin
        snapshots.process("news/feed", { api.load("/feed", completion: $0) }, completion: completion)
        // example: Callback end
      }
      #expect(try text(result.get()) == "live")
      snapshots.state = .replaying
    }
    let socket = Socket()
    let shown = Lock<[String]>([])
    let show = { @Sendable (data: Data) in shown.withLock { $0.append(String(decoding: data, as: UTF8.self)) }
    }
    // example: Message begin
    socket.onMessage { show(snapshots.process(data: $0, uniqueIdentifier: "chat")) }
    // example: Message end
    snapshots.state = .recording
    socket.receive("hello")
    snapshots.state = .replaying
    socket.receive("later")
    #expect(shown.withLock { $0 } == ["hello", "hello"])
    #expect(app.events.all.isEmpty)
  }

  /// Compiled only: it would need a server.
  private func load(_ url: URL, _ snapshots: SnapshotMode) async throws -> Data {
    // example: URLSession begin
    try await snapshots.process(url.path) { try await URLSession.shared.data(from: url).0 }
    // example: URLSession end
  }

  #if canImport(Combine)
    @Test func `a publisher replays what it recorded`() {
      let snapshots = app.launch()
      snapshots.state = .recording
      for _ in 0..<2 {
        // example: Combine begin
        let feed = api.publisher(for: "/feed").process("news/feed", by: snapshots)
        // example: Combine end
        let shown = Lock<[Data]>([])
        let subscription = feed.sink { _ in
        } receiveValue: { data in
          shown.withLock { $0.append(data) }
        }
        withExtendedLifetime(subscription) {}
        #expect(shown.withLock { $0 } == [Data("live".utf8)])
        snapshots.state = .replaying
      }
    }
  #endif

  @Test(arguments: ["Launch", "Plain", "Await", "Codable", "Callback", "Message", "URLSession", "Combine"])
  func `the article contains exactly these lines`(marker: String) throws {
    try DocumentedExample.check(article: Self.article, code: #filePath, marker: marker)
  }
}
