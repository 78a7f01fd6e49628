import DataSnapshots
import Foundation
import SnapshotFormat
import SnapshotReplay
import SnapshotURLSession
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Replays by a call, as in XCTest.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct WithReplayTests {
  private let fixture: SampleFixture
  private static let url = "https://news.invalid/item"

  init() throws { fixture = try SampleFixture() }

  /// Sends a request through the app's own session, and returns the status and the text.
  private static func send(
    _ session: URLSession, _ method: String = "GET", _ url: String = url, body: String = ""
  ) async throws -> String {
    var request = URLRequest(url: try #require(URL(string: url)))
    request.httpMethod = method
    if !body.isEmpty { request.httpBody = Data(body.utf8) }
    let (data, response) = try await session.data(for: request)
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    return "\(status) " + String(decoding: data, as: UTF8.self)
  }

  /// Runs `body` with the app's session over the replay.
  private func withSession(
    _ name: String, afterLast: SnapshotMode.Policy.AfterLast = .repeat,
    _ body: (URLSession) async throws -> Void
  ) async throws {
    try await withReplay(
      of: name, afterLast: afterLast, expectsClock: false, sourceFile: fixture.sourceFile
    ) { mode in
      let session = URLSession(configuration: mode.record(.ephemeral))
      defer { session.invalidateAndCancel() }
      try await body(session)
    }
  }

  @Test func `fifty replays in parallel don't mix`() async throws {
    for number in 0..<50 {
      try fixture.write(
        "fifty-\(number)",
        [
          .answer("GET", Self.url, "first \(number)"), .answer("PUT", Self.url, "put \(number)", sent: "x"),
          .answer("GET", Self.url, "second \(number)"),
        ])
    }
    let rounds = Int(ProcessInfo.processInfo.environment["REPLAY_ROUNDS"] ?? "") ?? 2
    for _ in 0..<rounds {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<50 {
          group.addTask {
            try await withSession("fifty-\(number)") { session in
              let answers = [
                try await Self.send(session), try await Self.send(session, "PUT", body: "x"),
                try await Self.send(session),
              ]
              #expect(answers == ["200 first \(number)", "200 put \(number)", "200 second \(number)"])
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test func `a retry of the app gets the next answer, errors included`() async throws {
    try fixture.write(
      "retry",
      [
        .failure("GET", Self.url, code: .timedOut), .answer("GET", Self.url, "busy", status: 503),
        .answer("GET", Self.url, "done"),
      ])
    try await withSession("retry") { session in
      let error = await #expect(throws: URLError.self) { try await Self.send(session) }
      #expect(error?.code == .timedOut)
      var answers: [String] = []
      for _ in 0..<3 { answers.append(try await Self.send(session)) }
      #expect(answers == ["503 busy", "200 done", "200 done"])
    }
    let error = await #expect(throws: ReplayError.self) {
      try await withSession("retry", afterLast: .fail) { session in
        for _ in 0..<4 { _ = try? await Self.send(session) }
      }
    }
    #expect(error?.code == .recordingMissing)
    #expect(error?.description.contains("all its 3 recorded calls were replayed") == true)
  }

  @Test func `one error names everything that was missed, also what the app swallowed`() async throws {
    try fixture.write(
      "misses",
      [
        .data("news/feed", "[]"), .answer("GET", Self.url + "?page=1", "one"),
        .answer("POST", Self.url, "made", sent: #"{"name":"a","count":1}"#),
      ])
    let error = await #expect(throws: ReplayError.self) {
      try await withReplay(of: "misses", expectsClock: false, sourceFile: fixture.sourceFile) { mode in
        let session = URLSession(configuration: mode.record(.ephemeral))
        defer { session.invalidateAndCancel() }
        _ = mode.process(data: Data(), uniqueIdentifier: "news/fed")
        _ = mode.process(data: Data(), uniqueIdentifier: "news/fed")
        _ = mode.process(data: Data(), uniqueIdentifier: "completely/else")
        _ = try? await Self.send(session, "GET", Self.url + "?page=2")
        _ = try await Self.send(session, "POST", body: #"{"name":"a","count":2}"#)
      }
    }
    let lines = try #require(error?.description).split(separator: "\n").map(String.init)
    #expect(error?.code == .recordingMissing)
    for words in [
      "no recording of ‘news/fed’; the nearest is ‘news/feed’, which has ‘feed’ instead of ‘fed’",
      "no recording of ‘completely/else’, and none that is similar", "page=2 instead of page=1",
      ".count is 2 instead of 1",
    ] {
      #expect(lines.contains { $0.contains(words) }, "\(words) in \(lines)")
    }
    #expect(lines.filter { $0.contains("‘news/fed’") }.count == 1)
  }

  @Test func `the result and the errors of the body are passed on`() async throws {
    struct Failure: Error {}
    try fixture.write("plain", [.data("feed", "[1]")])
    let file = fixture.sourceFile
    let text = try await withReplay(of: "plain", expectsClock: false, sourceFile: file) { mode in
      String(decoding: mode.process(data: Data(), uniqueIdentifier: "feed"), as: UTF8.self)
    }
    #expect(text == "[1]")
    await #expect(throws: Failure.self) {
      try await withReplay(of: "plain", expectsClock: false, sourceFile: file) { _ in throw Failure() }
    }
    let both = await #expect(throws: ReplayError.self) {
      try await withReplay(of: "plain", expectsClock: false, sourceFile: file) { mode in
        _ = mode.recorded("other")
        throw Failure()
      }
    }
    #expect(both?.description.contains("The test ended with: Failure") == true)
  }

  @Test func `without strictness, the policies of the app apply`() async throws {
    try fixture.write("plain", [.data("feed", "[1]")])
    let text = try await withReplay(
      of: "plain", isStrict: false, expectsClock: false, sourceFile: fixture.sourceFile
    ) { mode in
      String(decoding: mode.process(data: Data("live".utf8), uniqueIdentifier: "other"), as: UTF8.self)
    }
    #expect(text == "live")
  }

  @Test func `each replay has a folder of its own, which is removed`() async throws {
    try fixture.write("plain", [.data("feed", "[1]")])
    func folders() throws -> Set<String> {
      Set(
        try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path)
          .filter { $0.hasPrefix("snapshot-replay-") })
    }
    weak var released: SnapshotMode?
    let during = try await withReplay(
      of: "plain", expectsClock: false, sourceFile: fixture.sourceFile
    ) { mode in
      released = mode
      return try folders()
    }
    #expect(released == nil)
    // Other tests have folders too.
    #expect(try !during.isSubset(of: folders()))
  }

  @Test func `a fixture that can't be replayed is named in a sentence`() async throws {
    let file = fixture.sourceFile
    func refusal(_ name: String, maximumAge: Duration? = nil) async -> ReplayError? {
      await #expect(throws: ReplayError.self) {
        try await withReplay(of: name, maximumAge: maximumAge, expectsClock: false, sourceFile: file) { _ in }
      }
    }
    let missing = await refusal("nowhere")
    #expect(missing?.code == .fixtureMissing)
    #expect(
      missing?.description.contains("Fixtures/nowhere.snapshot.zip; write it with `snapshot test") == true)
    for name in ["", "../x", ".hidden", String(repeating: "n", count: 101)] {
      #expect(await refusal(name)?.code == .invalidName)
    }
    #expect(await refusal(String(repeating: "n", count: 100))?.code == .fixtureMissing)

    let zip = try fixture.write("damaged", [.data("feed", String(repeating: "text ", count: 100))])
    var bytes = try Data(contentsOf: zip)
    bytes.removeLast(40)
    try bytes.write(to: zip)
    let damaged = await refusal("damaged")
    #expect(damaged?.code == .fixtureRefused && damaged?.description.contains(zip.path) == true)

    try fixture.folder.write(Data(#"{"formatVersion":3}"#.utf8), to: "Fixtures/newer.snapshot/manifest.json")
    let newer = await refusal("newer")
    #expect(newer?.code == .fixtureRefused && newer?.description.contains("format version 3") == true)

    try fixture.write("old", [.data("feed", "")])
    let old = await refusal("old", maximumAge: .seconds(86_400))
    #expect(old?.code == .fixtureTooOld)
    #expect(old?.description.contains("made at 2023-11-14T22:13:20.000Z") == true)
    try await withReplay(
      of: "old", maximumAge: .seconds(86_400 * 36_500), expectsClock: false, sourceFile: file
    ) { _ in }
  }

  @Test func `a snapshot's folder is a fixture too`() async throws {
    let zip = try fixture.write("folder", [.data("feed", "[1]")])
    _ = try SnapshotBundle.unpack(
      zip: zip, into: fixture.folder.file("Fixtures/unpacked.snapshot"))
    try await withReplay(of: "unpacked", expectsClock: false, sourceFile: fixture.sourceFile) { mode in
      #expect(mode.recorded("feed") == Data("[1]".utf8))
    }
    #expect(
      try SnapshotBundle.validate(folder: fixture.folder.file("Fixtures/unpacked.snapshot")).recordings.count
        == 1)
  }
}
