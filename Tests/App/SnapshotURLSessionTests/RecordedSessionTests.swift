import DataSnapshots
import Foundation
import HTTPTypes
import SnapshotFormat
import SnapshotURLSession
import SystemIO
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct RecordedSessionTests {
  @Test func `exchanges are replayed with status, fields and body, and nothing is sent`() async throws {
    try await SessionApp.with { app in
      let session = app.session()
      app.mode.state = .recording
      #expect(try await app.get(session, "/feed?page=2") == "answer 1")
      #expect(try await app.get(session, "/status/404") == "404 status 2")
      #expect(try await app.get(session, "/status/503") == "503 status 3")
      #expect(try await app.get(session, "/gzip") == #"{"title":"packed"}"#)
      try await app.replay()
      #expect(try await app.get(session, "/status/503") == "503 status 3")
      #expect(try await app.get(session, "/status/404") == "404 status 2")
      let (data, response) = try await session.data(from: app.url("/feed?page=2"))
      #expect(String(decoding: data, as: UTF8.self) == "answer 1")
      let answer = try #require(response as? HTTPURLResponse)
      #expect(answer.value(forHTTPHeaderField: "Content-Type") == "text/plain")
      #expect(try answer.url == app.url("/feed?page=2"))
      #expect(try await app.get(session, "/gzip") == #"{"title":"packed"}"#)
      #expect(app.server.requests.count == 4)
      #expect(app.events.texts == [])
    }
  }

  @Test func `the manifest describes exchanges`() async throws {
    try await SessionApp.with { app in
      let session = app.session()
      app.mode.state = .recording
      _ = try await app.post(session, "/echo", #"{"a":1}"#)
      let manifest = try await app.pack().manifest
      let recording = try #require(manifest.recordings.first)
      let exchange = try #require(recording.exchange)
      #expect(recording.identifier.hasPrefix("POST http://127.0.0.1:\(app.port)/echo #"))
      #expect(try exchange.request.url == app.url("/echo").absoluteString)
      #expect(exchange.request.fields.contains(.init("Content-Type", "application/json")))
      #expect(exchange.request.body == .init(size: 7, sha256: .of(Data(#"{"a":1}"#.utf8))))
      #expect(exchange.response?.status == 200)
      #expect(exchange.failure == nil && exchange.redirect == nil)
      #expect(exchange.duration >= exchange.responseAfter ?? .max)
    }
  }

  @Test func `exchanges of one URL are replayed in the order in which they ended`() async throws {
    try await SessionApp.with { app in
      let session = app.session()
      app.mode.state = .recording
      let first = try await app.get(session, "/item")
      let put = try await app.post(session, "/item", "new", method: "PUT")
      let second = try await app.get(session, "/item")
      let third = try await app.get(session, "/item")
      try await app.replay()
      #expect(try await app.get(session, "/item") == first)
      #expect(try await app.post(session, "/item", "new", method: "PUT") == put)
      #expect(try await app.get(session, "/item") == second)
      #expect(try await app.get(session, "/item") == third)
      #expect(try await app.get(session, "/item") == third)
      #expect(Set([first, put, second, third]).count == 4)
    }
  }

  @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
  func `every method is recorded`(method: String) async throws {
    try await SessionApp.with { app in
      let session = app.session()
      var request = URLRequest(url: try app.url("/echo"))
      request.httpMethod = method
      if method.hasPrefix("P") { request.httpBody = Data("body".utf8) }
      app.mode.state = .recording
      let live = try await app.text(session, request)
      app.mode.state = .replaying
      #expect(try await app.text(session, request) == live)
      #expect(app.server.requests == ["\(method) /echo"])
    }
  }

  @Test func `GraphQL requests are told apart by their operation`() async throws {
    try await SessionApp.with { app in
      let session = app.session()
      let feed = #"{"operationName":"Feed","query":"query Feed { feed }"}"#
      let user = #"{"query":"query User { user }"}"#
      app.mode.state = .recording
      let answers = [
        try await app.post(session, "/graphql", feed), try await app.post(session, "/graphql", user),
      ]
      let identifiers = try await app.pack().manifest.recordings.map(\.identifier)
      #expect(identifiers.count { $0.contains("/graphql Feed #") } == 1)
      #expect(identifiers.count { $0.contains("/graphql User #") } == 1)
      app.mode.state = .replaying
      #expect(try await app.post(session, "/graphql", user) == answers[1])
      #expect(try await app.post(session, "/graphql", feed) == answers[0])
    }
  }

  @Test func `volatile query items and the order of items make no difference`() async throws {
    try await SessionApp.with { app in
      var rules = ExchangeRules()
      rules.volatileQueryItems.insert("run")
      let session = app.session(rules: rules)
      app.mode.state = .recording
      let live = try await app.get(session, "/feed?b=2&a=1&a=0&_=17&Run=1")
      app.mode.state = .replaying
      #expect(try await app.get(session, "/feed?a=1&a=0&ts=99&b=2&run=2") == live)
      #expect(app.events.texts == [])
    }
  }

  @Test func `an identifier can be rewritten`() async throws {
    try await SessionApp.with { app in
      var rules = ExchangeRules()
      rules.rewrite = { identifier, _ in String(identifier.prefix { $0 != "#" }) }
      let session = app.session(rules: rules)
      app.mode.state = .recording
      let live = try await app.post(session, "/time", "1")
      app.mode.state = .replaying
      #expect(try await app.post(session, "/time", "2") == live)
    }
  }

  @Test func `redirects are recorded one by one, and followed when replayed`() async throws {
    try await SessionApp.with { app in
      let session = app.session()
      app.mode.state = .recording
      let live = try await app.post(session, "/redirect/302?/redirect/307?/feed", "form")
      #expect(live == "answer 3")
      let exchanges = try await app.pack().manifest.recordings.compactMap(\.exchange)
        .sorted { $0.outcome < $1.outcome }
      #expect(
        exchanges.map { "\($0.request.method) \($0.response?.status ?? 0)" } == [
          "GET 200", "POST 302", "GET 307",
        ])
      #expect(
        try exchanges[1].redirect == .init(method: "GET", url: app.url("/redirect/307?/feed").absoluteString))
      try await app.replay()
      let (data, response) = try await {
        var request = URLRequest(url: try app.url("/redirect/302?/redirect/307?/feed"))
        request.httpMethod = "POST"
        request.httpBody = Data("form".utf8)
        return try await session.data(for: request)
      }()
      #expect(String(decoding: data, as: UTF8.self) == live)
      #expect(try response.url == app.url("/feed"))
      #expect(app.server.requests.count == 3)
    }
  }

  @Test func `a refused redirect is an answer`() async throws {
    try await SessionApp.with { app in
      let delegate = TaskDelegate(followsRedirects: false)
      let session = app.session(delegate: delegate)
      app.mode.state = .recording
      try await delegate.run(session.dataTask(with: try app.url("/redirect/302?/feed")))
      app.mode.state = .replaying
      try await delegate.run(session.dataTask(with: try app.url("/redirect/302?/feed")))
      #expect(delegate.outcomes == ["302 moved", "302 moved"])
      #expect(delegate.redirects == 2)
      #expect(app.server.requests.count == 1)
    }
  }

  @Test func `a session's delegate gets the same calls`() async throws {
    try await SessionApp.with { app in
      let delegate = TaskDelegate()
      let session = app.session(delegate: delegate)
      app.mode.state = .recording
      try await delegate.run(session.dataTask(with: try app.url("/bytes/300000")))
      try await delegate.run(session.dataTask(with: try app.url("/redirect/302?/feed")))
      app.mode.state = .replaying
      try await delegate.run(session.dataTask(with: try app.url("/bytes/300000")))
      try await delegate.run(session.dataTask(with: try app.url("/redirect/302?/feed")))
      #expect(delegate.outcomes[0].utf8.count > 300_000)
      #expect(delegate.outcomes[2] == delegate.outcomes[0] && delegate.outcomes[3] == delegate.outcomes[1])
      #expect(delegate.redirects == 2)
      #expect(app.server.requests.count == 3)
    }
  }

  @Test func `errors and time-outs are replayed`() async throws {
    try await SessionApp.with { app in
      let session = app.session { $0.timeoutIntervalForRequest = 1 }
      let closed = try #require(URL(string: "http://127.0.0.1:1/feed"))
      let stall = try app.url("/stall")
      app.mode.state = .recording
      let refused = await #expect(throws: URLError.self) { try await session.data(from: closed) }
      let late = await #expect(throws: URLError.self) { try await session.data(from: stall) }
      #expect(late?.code == .timedOut)
      try await app.replay()
      let again = await #expect(throws: URLError.self) { try await session.data(from: closed) }
      let lateAgain = await #expect(throws: URLError.self) { try await session.data(from: stall) }
      #expect(again?.code == refused?.code && lateAgain?.code == .timedOut)
      #expect(app.server.requests == ["GET /stall"])
    }
  }

  @Test func `a cancellation is passed on, recorded and replayed`() async throws {
    try await SessionApp.with { app in
      let session = app.session()
      let stall = try app.url("/stall")
      app.mode.state = .recording
      let call = Task { try await session.data(from: stall) }
      await app.server.isStalled.wait()
      call.cancel()
      let error = await #expect(throws: URLError.self) { try await call.value }
      #expect(error?.code == .cancelled)
      while await app.mode.report().callCount == 0 { await Task.yield() }
      try await app.replay()
      let again = await #expect(throws: URLError.self) { try await session.data(from: stall) }
      #expect(again?.code == .cancelled)
      #expect(app.server.requests == ["GET /stall"])
    }
  }

  @Test func `a call can be cancelled while it is replayed`() async throws {
    try await SessionApp.with { app in
      let session = app.session()
      app.mode.state = .recording
      let live = try await app.get(session, "/feed")
      app.mode.state = .replaying
      let url = try app.url("/feed")
      for _ in 0..<20 {
        let call = Task { try await session.data(from: url) }
        call.cancel()
        // It ends either way.
        switch await call.result {
        case .success(let (data, _)): #expect(String(decoding: data, as: UTF8.self) == live)
        case .failure(let error):
          #expect((error as? URLError)?.code == .cancelled || error is CancellationError)
        }
      }
      #expect(try await app.get(session, "/feed") == live)
    }
  }

  @Test func `the answer of a suspended task waits until it is resumed`() async throws {
    try await SessionApp.with { app in
      let session = app.session()
      app.mode.state = .recording
      let isDone = Signal()
      let task = session.dataTask(with: try app.url("/feed")) { _, _, _ in isDone.fire() }
      task.resume()
      task.suspend()
      while await app.mode.report().callCount == 0 { await Task.yield() }
      #expect(task.state == .suspended)
      task.resume()
      await isDone.wait()
      #expect(app.server.requests == ["GET /feed"])
    }
  }

  @Test func `a body that exceeds the limit reaches the app, and is reported as dropped`() async throws {
    try await SessionApp.with { app in
      var rules = ExchangeRules()
      rules.bodyLimit = 1000
      rules.requestBodyLimit = 1000
      let session = app.session(rules: rules)
      app.mode.state = .recording
      #expect(try await app.get(session, "/bytes/1000").unicodeScalars.count > 900)
      let (data, _) = try await session.data(from: app.url("/bytes/1001"))
      #expect(data.count == 1001)
      let text = String(repeating: "x", count: 1001)
      #expect(try await app.post(session, "/echo", text) == "POST " + text)
      // The answer is five bytes longer.
      #expect(try await app.post(session, "/echo", String(text.dropLast(6))).count == 1000)
      let manifest = try await app.pack().manifest
      #expect(manifest.recordings.count == 2)
      #expect(manifest.dropped.map(\.reason) == [.tooLarge, .tooLarge])
      #expect(app.events.kinds == [.recordingRefused, .recordingRefused])
    }
  }

  @Test(arguments: [10, 70_000, 300_000]) func `a streamed body is sent and recorded within the limit`(
    size: Int
  )
    async throws
  {
    try await SessionApp.with { app in
      var rules = ExchangeRules()
      rules.requestBodyLimit = 100_000
      let session = app.session(rules: rules)
      let body = Data((0..<size).map { UInt8(ascii: "a") + UInt8($0 % 26) })
      let request = { () throws -> URLRequest in
        var request = URLRequest(url: try app.url("/echo"))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: body)
        return request
      }
      app.mode.state = .recording
      let live = try await app.text(session, request())
      #expect(live == "POST " + String(decoding: body, as: UTF8.self))
      #expect(app.server.fields[0][.contentLength] == nil)
      let manifest = try await app.pack().manifest
      #expect(manifest.recordings.first?.exchange?.request.body?.size == (size > 100_000 ? nil : Int64(size)))
      guard size <= 100_000 else { return }
      app.mode.state = .replaying
      #expect(try await app.text(session, request()) == live)
      #expect(app.server.requests.count == 1)
    }
  }

  @Test func `secrets are removed from fields, URLs and bodies`() async throws {
    try await SessionApp.with({ $0.redaction = .usualSecrets }) { app in
      let session = app.session()
      var request = URLRequest(url: try app.url("/secret?access_token=s3cr3t&page=1"))
      request.httpMethod = "POST"
      request.httpBody = Data(#"{"password":"s3cr3t","user":"anna@example.com"}"#.utf8)
      for (name, value) in [
        ("Authorization", "Bearer s3cr3t"), ("Cookie", "session=s3cr3t"), ("X-Api-Key", "s3cr3t"),
        ("X-Session-Token", "s3cr3t"), ("Accept", "application/json"),
      ] {
        request.setValue(value, forHTTPHeaderField: name)
      }
      app.mode.state = .recording
      let live = try await app.text(session, request)
      #expect(live == #"{"token":"s3cr3t"}"#)
      await app.mode.flush()
      let files = FileManager.default.enumerator(atPath: app.temporary.path)?.allObjects as? [String] ?? []
      #expect(files.contains { $0.contains("/exchanges/") })
      for file in files where Folder.isRegularFile(app.temporary.path + "/" + file) {
        let text = String(decoding: try Data(contentsOf: app.temporary.file(file)), as: UTF8.self)
        #expect(!text.contains("s3cr3t") && !text.contains("anna@") && !file.contains("s3cr3t"))
      }
      let exchange = try #require(try await app.pack().manifest.recordings.first?.exchange)
      #expect(
        exchange.request.fields.contains { $0.name == "Authorization" && $0.value.hasPrefix("[redacted-") })
      #expect(exchange.request.fields.contains(.init("Accept", "application/json")))
      #expect(exchange.responseField("set-cookie")?.hasPrefix("[redacted-") == true)
      try await app.replay()
      // Another token is the same request.
      request.url = try app.url("/secret?access_token=other&page=1")
      request.httpBody = Data(#"{"password":"other","user":"bob@example.com"}"#.utf8)
      #expect(try await app.text(session, request).hasPrefix(#"{"token":"[redacted-"#))
    }
  }

  @Test func `a request without a recording names the nearest and what differs`() async throws {
    let failed = Signal()
    try await SessionApp.with({ $0.policy.missing = .fail { _ in failed.fire() } }) { app in
      let session = app.session()
      app.mode.state = .recording
      _ = try await app.get(session, "/feed?page=1&size=10")
      _ = try await app.post(session, "/search", "first")
      try await app.replay()
      await #expect(throws: SnapshotMode.MissingRecording.self) {
        try await app.get(session, "/feed?page=2&size=10")
      }
      await #expect(throws: SnapshotMode.MissingRecording.self) {
        try await app.post(session, "/search", "second")
      }
      await #expect(throws: SnapshotMode.MissingRecording.self) {
        try await app.post(session, "/feed?page=1&size=10", "x", method: "GET-ALL")
      }
      await #expect(throws: SnapshotMode.MissingRecording.self) {
        try await app.get(session, "/fed?page=1&size=10")
      }
      let texts = app.events.texts
      #expect(texts[0].hasSuffix("which differs in the query (page=2 instead of page=1)"))
      #expect(texts[1].hasSuffix("which differs in the body"))
      #expect(texts[2].contains("the method (GET-ALL instead of GET)"))
      #expect(texts[3].hasSuffix("the path (/fed instead of /feed)"))
      await failed.wait()
      #expect(app.server.requests.count == 2)
    }
  }

  @Test func `what is missing is sent or empty, as the policy says`() async throws {
    try await SessionApp.with({ $0.policies["GET *"] = .init(missing: .emptyData) }) { app in
      let session = app.session()
      app.mode.state = .replaying
      let (empty, echo) = (try await app.get(session, "/feed"), try await app.post(session, "/echo", "x"))
      #expect(empty == "" && echo == "POST x")
      #expect(app.server.requests == ["POST /echo"])
    }
  }

  @Test func `fifty sessions with a mode each never mix`() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<50 {
        group.addTask { try await Self.useOwnSession(number) }
      }
      try await group.waitForAll()
    }
  }

  private static func useOwnSession(_ number: Int) async throws {
    try await SessionApp.with { app in
      let session = app.session()
      app.mode.state = .recording
      var live: [String] = []
      for call in 0..<5 { live.append(try await app.post(session, "/echo", "\(number) \(call)")) }
      #expect(live == (0..<5).map { "POST \(number) \($0)" })
      let manifest = try await app.pack().manifest
      #expect(manifest.recordings.count == 5)
      app.mode.state = .replaying
      for call in 0..<5 {
        #expect(try await app.post(session, "/echo", "\(number) \(call)") == live[call])
      }
      #expect(app.server.requests.count == 5)
      #expect(app.events.texts == [])
    }
  }

  @Test func `nothing refers to a mode after its last exchange`() async throws {
    try await SessionApp.with { app in
      weak var released: SnapshotMode?
      for state in [SnapshotMode.State.recording, .replaying] {
        let mode = SnapshotMode(folder: app.temporary.file("other"))
        released = mode
        mode.state = state
        let session = URLSession(configuration: mode.record(.ephemeral))
        _ = try await session.data(from: app.url("/feed"))
        await mode.close()
        session.finishTasksAndInvalidate()
      }
      while released != nil { await Task.yield() }
    }
  }

  @Test func `many calls of one session at once are answered`() async throws {
    try await SessionApp.with { app in
      let session = app.session()
      for state in [SnapshotMode.State.recording, .replaying] {
        app.mode.state = state
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<100 {
            group.addTask {
              let text = try await app.post(session, "/echo", "\(number)")
              #expect(text == "POST \(number)")
            }
          }
          try await group.waitForAll()
        }
      }
      #expect(app.server.requests.count == 100)
      #expect(app.events.texts == [])
    }
  }

  @Test func `nothing is added to a request, and a disabled mode or other configuration changes nothing`()
    async throws
  {
    try await SessionApp.with { app in
      let plain = URLSession(configuration: .ephemeral)
      let session = app.session()
      _ = try await app.post(plain, "/echo", "x")
      _ = try await app.post(session, "/echo", "x")
      app.mode.state = .recording
      _ = try await app.post(session, "/echo", "x")
      let fields = app.server.fields.map { $0.map { "\($0)" }.sorted() }
      #expect(fields[1] == fields[0] && fields[2] == fields[0])
      #expect(try await app.pack().manifest.recordings.count == 1)
      await app.mode.close()
      #expect(try await app.get(session, "/feed") == "answer 4")
    }
  }

  #if canImport(FoundationNetworking)
    @Test func `uploads and downloads pass on Linux, and are reported as not recorded`() async throws {
      try await SessionApp.with { app in
        let session = app.session()
        app.mode.state = .recording
        var request = URLRequest(url: try app.url("/echo"))
        request.httpMethod = "POST"
        let (data, _) = try await session.upload(for: request, from: Data("upload".utf8))
        #expect(String(decoding: data, as: UTF8.self) == "POST upload")
        let (file, _) = try await session.download(from: app.url("/feed"))
        #expect(try Data(contentsOf: file) == Data("answer 2".utf8))
        try FileManager.default.removeItem(at: file)
        let manifest = try await app.pack().manifest
        #expect(manifest.recordings.isEmpty)
        #expect(manifest.dropped.map(\.reason) == [.unsupported, .unsupported])
      }
    }
  #endif
}
