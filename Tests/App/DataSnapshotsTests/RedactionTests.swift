import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// The stored data if redaction rules are set.
struct RedactionTests {
  private var app: SampleApp

  private struct Broken: Error {}

  init() throws { app = try SampleApp() }

  /// The stored form of `data` under `identifier`; `nil` if it is not stored.
  private func stored(_ data: Data, _ rules: [RedactionRule], as identifier: String = "a") async throws
    -> Data?
  {
    var app = app
    app.configuration.redaction = rules
    app.configuration.unknownBinaries = .keep
    let mode = app.launch()
    mode.state = .recording
    #expect(mode.process(data: data, uniqueIdentifier: identifier) == data)
    await mode.flush()
    let file = app.storage.appending(path: "recordings/\(RecordingName(identifier))")
    return try Folder.exists(file.path) ? try Data(contentsOf: file).withUniformPlaceholders : nil
  }

  private func stored(_ text: String, _ rules: RedactionRule...) async throws -> String? {
    try await stored(Data(text.utf8), rules).map { String(decoding: $0, as: UTF8.self) }
  }

  // MARK: - JSON

  @Test func `values of a key are removed at any depth, and all other bytes are unchanged`() async throws {
    let rule = RedactionRule.jsonKeys(["access_token", "pin"], named: "keys")
    let before = #"""
      { "b" : 1.50, "accessToken" : "x\"y", "a":[{"Access-Token":{"deep":[1]},"z":1e2}, {"PIN":1234}],
        "pin": [1, 2],"ok":true,"pins":"kept","access_token":false, "n":{"pin":null} , "\u0070in":"s" }
      """#
    let after = #"""
      { "b" : 1.50, "accessToken" : "[redacted]", "a":[{"Access-Token":{},"z":1e2}, {"PIN":0}],
        "pin": [],"ok":true,"pins":"kept","access_token":false, "n":{"pin":null} , "\u0070in":"[redacted]" }
      """#
    #expect(try await stored(before, rule) == after)
  }

  @Test(arguments: [
    ("user.addresses[*].street", #"{"user":{"addresses":[{"street":"S"},{"street":"T"}]},"street":"kept"}"#),
    ("$.user.addresses[1].street", #"{"user":{"addresses":[{"street":"kept"},{"street":"S"}]}}"#),
    ("**.street", #"{"street":"S","a":[{"b":{"street":"S"}}],"streets":"kept"}"#),
    ("*.street", #"{"a":{"street":"S"},"street":"kept","b":{"c":{"street":"kept"}}}"#),
    ("['a.b'].c", #"{"a.b":{"c":"S"},"a":{"b":{"c":"kept"}}}"#),
    ("[*].c", #"[{"c":"S"},{"d":"kept"}]"#),
    ("a.**.c", #"{"a":{"c":"S","b":[[{"c":"S"}]]},"c":"kept"}"#),
  ])
  func `a path matches the values that it describes`(path: String, json: String) async throws {
    let expected = json.replacing(#""S""#, with: #""[redacted]""#).replacing(#""T""#, with: #""[redacted]""#)
    #expect(try await stored(json, .jsonPath(path, named: "path")) == expected)
  }

  @Test(arguments: ["", "$", "a..b", "a.", ".a", "a[", "a[x]", "a['b]", "a[-1]", "a.**", "[*]."])
  func `an invalid path is rejected`(path: String) {
    #expect(throws: RedactionRule.MalformedRule.self) { try RedactionRule.jsonPath(path, named: "path") }
  }

  @Test func `JSON Lines, UTF-16 and byte order marks are read`() async throws {
    let rule = RedactionRule.jsonKeys(["pin"], named: "keys")
    #expect(
      try await stored("{\"pin\":\"1\"}\n{\"pin\":\"2\"}\n", rule)
        == "{\"pin\":\"[redacted]\"}\n{\"pin\":\"[redacted]\"}\n")
    for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf16] {
      let before = try #require(#"{"pin":"geheim","ü":"😀"}"#.data(using: encoding))
      let after = try await stored(before, [rule])
      let text = try #require(after.flatMap { String(data: $0, encoding: encoding) })
      #expect(text.withUniformPlaceholders == #"{"pin":"[redacted]","ü":"😀"}"#)
    }
    let marked = Data([0xEF, 0xBB, 0xBF]) + Data(#"{"pin":"1"}"#.utf8)
    #expect(
      try await stored(marked, [rule]) == Data([0xEF, 0xBB, 0xBF]) + Data(#"{"pin":"[redacted]"}"#.utf8))
  }

  @Test func `JSON with leading zeros or nonstandard escapes is read too`() async throws {
    let rule = RedactionRule.jsonKeys(["pin"], named: "keys")
    #expect(
      try await stored(#"{"pin":"\x1","a":007,"b":"it\'s","p\in":-01}"#, rule)
        == #"{"pin":"[redacted]","a":007,"b":"it\'s","p\in":0}"#)
  }

  @Test(arguments: [
    #"{"pin":"secret""#, #"{"pin":"secret"} trailing"#, #"{"pin":'secret'}"#, #"{pin:"secret"}"#,
    #"{"pin":{"a":["secret"#, "{\"a\":\"line\nbreak\",\"pin\":[\"secret\"]}", #"[["pin": secret 2]]"#,
  ])
  func `data that begins like JSON but is invalid is searched as text`(text: String) async throws {
    let left = try #require(try await stored(text, .jsonKeys(["pin"], named: "keys")))
    #expect(!left.contains("secret"))
    #expect(left.contains("[redacted]"))
    #expect(app.events.all.isEmpty)
  }

  @Test func `data that is nested too deeply is not stored`() async throws {
    for depth in [100, 10_000] {
      let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      let left = try await stored(Data(text.utf8), [.jsonKeys(["pin"], named: "keys")], as: "\(depth)")
      #expect(left == (depth == 100 ? Data(text.utf8) : nil))
    }
    #expect(app.events.kinds == [.redactionFailed])
    #expect(app.events.all.first?.reason.contains("nested too deeply") == true)
  }

  @Test func `text that is not JSON has no paths; its keys are those of a form, a header or a log`()
    async throws
  {
    let rules = [RedactionRule.jsonKeys(["pin"], named: "keys"), try .jsonPath("pin", named: "path")]
    let unchanged = [
      Data(), Data([0, 0xFF, 0xD8, 0x80]), Data("\"pin\"".utf8), Data("[1 2]".utf8), Data("[INFO] a".utf8),
    ]
    for data in unchanged { #expect(try await stored(data, rules) == data) }
    #expect(
      try await stored(#"[12:00] pin: 1, x {"pin":"2","pins":3} pin=4"#, rules[0])
        == #"[12:00] pin: [redacted], x {"pin":"[redacted]","pins":3} pin=[redacted]"#)
    #expect(app.events.all.isEmpty)
  }

  // MARK: - Text

  @Test func `an expression finds text in JSON regardless of escapes, and in any other text`() async throws {
    let rule = try RedactionRule.matching(#"AT\d{4}/ü"#, named: "iban")
    #expect(try await stored("an AT1234/ü b AT12", rule) == "an [redacted] b AT12")
    #expect(
      try await stored(#"{"AT1234\/\u00fc":["x AT1234\/ü \n","kept\/"]}"#, rule)
        == #"{"[redacted]":["x [redacted] \n","kept\/"]}"#)
    #expect(try await stored("[12345, 6]", .matching("234", named: "n")) == "[0, 6]")
    #expect(try await stored("a=1;b=2", .matching("b=(\\d)", named: "group")) == "a=1;b=[redacted]")
    #expect(try await stored(#"{"a":"b"}"#, .matching(#""a":"b""#, named: "raw")) == "{[redacted]}")
  }

  @Test func `text in an older encoding and in binary data is found`() async throws {
    let rule = try RedactionRule.matching("geheim", named: "word")
    let latin = Data([0xFC, 0x20]) + Data("geheim!".utf8)
    #expect(try await stored(latin, [rule]) == Data([0xFC, 0x20]) + Data("[redacted]!".utf8))
    let binary = Data([0x00, 0xFF]) + Data("geheim".utf8) + Data([0x80])
    #expect(try await stored(binary, [rule]) == Data([0x00, 0xFF]) + Data("******".utf8) + Data([0x80]))
    let every = Data((0...255).map { UInt8($0) })
    #expect(try await stored(every, [rule]) == every)
  }

  @Test func `an invalid expression is rejected`() {
    #expect(throws: RedactionRule.MalformedRule.self) { try RedactionRule.matching("(", named: "x") }
  }

  // MARK: - Closures, order and failure

  @Test func `rules run in order, each on the result of the previous one, for their identifiers`()
    async throws
  {
    let first = RedactionRule.custom(named: "first") { data, identifier in data + Data(identifier.utf8) }
    let second = RedactionRule.custom(named: "second") { data, _ in Data(data.reversed()) }
    #expect(try await stored(Data("x".utf8), [first, second], as: "ab") == Data("bax".utf8))
    #expect(try await stored(Data("x".utf8), [first.only("b*", "a"), second], as: "ab") == Data("x".utf8))
    #expect(try await stored(Data("x".utf8), [first.only("a*")], as: "ab") == Data("xab".utf8))
  }

  @Test func `if a rule fails, only its recording is not stored`() async throws {
    var app = app
    app.configuration.redaction = [.custom(named: "breaks") { _, _ in throw Broken() }.only("a")]
    let mode = app.launch()
    mode.state = .recording
    #expect(mode.process("secret", "a") == "secret")
    #expect(mode.process("fine", "b") == "fine")
    let packed = try await mode.makeSnapshot(to: app.temporary.file("a.zip"))
    #expect(packed.manifest.recordings.map(\.identifier) == ["b"])
    #expect(app.events.kinds == [.redactionFailed])
    #expect(app.events.all.first?.identifier == "a")
  }

  @Test func `rules do not run on the thread that records`() async {
    var app = app
    let gate = DispatchSemaphore(value: 0)
    app.configuration.redaction = [
      .custom(named: "slow") { data, _ in
        gate.wait()
        return data
      }
    ]
    let mode = app.launch()
    mode.state = .recording
    // Each call would block forever if its rule ran first.
    for identifier in ["a", "b", "c"] { #expect(mode.process("live", identifier) == "live") }
    for _ in 0..<3 { gate.signal() }
    await mode.flush()
    #expect(await mode.report().recordingCount == 3)
  }

  // MARK: - What the manifest says

  @Test func `the manifest names the rules that ran, in their order`() async throws {
    var app = app
    app.configuration.redaction = [
      .jsonKeys(["a"], named: "never").only("elsewhere"), .jsonKeys(["a"], named: "keys"),
      .custom(named: "here") { data, _ in data }.only("x*"),
    ]
    let mode = app.launch()
    mode.state = .recording
    #expect(try await mode.makeSnapshot(to: app.temporary.file("0.zip")).manifest.redactions == [])
    _ = mode.process("1", "y")
    #expect(try await mode.makeSnapshot(to: app.temporary.file("1.zip")).manifest.redactions == ["keys"])
    _ = mode.process("1", "x/1")
    #expect(
      try await mode.makeSnapshot(to: app.temporary.file("2.zip")).manifest.redactions == ["keys", "here"])
    let next = app.launch()
    #expect(await next.report().redactions == ["keys", "here"])
    try await next.clear()
    #expect(await next.report().redactions == [])
  }

  @Test func `a new rule is applied to the recordings of the last launch`() async throws {
    var app = app
    let mode = app.launch()
    mode.state = .recording
    mode.attach(name: "log.txt", data: Data("geheim".utf8))
    let deep = String(repeating: "[", count: 1_000)
    for (text, identifier) in [("ein geheim", "a"), ("fine", "id-geheim"), (deep, "broken"), ("x", "fine")] {
      _ = mode.process(text, identifier)
    }
    await mode.flush()
    app.configuration.redaction = [
      try .matching("geheim", named: "word"), .jsonKeys(["a"], named: "keys").only("broken"),
    ]
    let next = app.launch()
    let zip = app.temporary.file("a.zip")
    let packed = try await next.makeSnapshot(to: zip)
    #expect(Set(packed.manifest.recordings.map(\.identifier)) == ["a", "id-[redacted]", "fine"])
    #expect(packed.manifest.redactions == ["word", "keys"])
    #expect(app.events.kinds == [.redactionFailed])
    #expect(try places(of: "geheim", in: app.storage).isEmpty)
    next.state = .replaying
    #expect(next.process("live", "a").withUniformPlaceholders == "ein [redacted]")
    #expect(next.process("live", "id-geheim") == "fine")
    // The launch after that has nothing left to do.
    await app.launch().flush()
    #expect(app.events.kinds == [.redactionFailed])
  }

  @Test func `rules that find more than before are applied to existing recordings, except those of the app`()
    async throws
  {
    var app = app
    let mode = app.launch()
    mode.state = .recording
    _ = mode.process(#"{"name":"token","value":"geheim"}"#, "a")
    await mode.flush()
    let own = RedactionRule.custom(named: "own") { data, _ in data + Data("!".utf8) }
    app.configuration.redaction = [.tokens, own]
    // As an earlier version has noted its rules.
    let notes = Data(#"{"configured":["tokens","own"],"ran":["tokens","own"]}"#.utf8)
    try notes.write(to: app.storage.appending(path: "redactions.json"))
    for _ in 0..<2 {
      let next = app.launch()
      let packed = try await next.makeSnapshot(to: app.temporary.file("a.zip"))
      #expect(packed.manifest.redactions == ["tokens", "own"])
      let left = try Data(contentsOf: app.storage.appending(path: "recordings/a"))
      let text = String(decoding: left, as: UTF8.self).withUniformPlaceholders
      #expect(text == #"{"name":"token","value":"[redacted]"}"#)
    }
  }

  // MARK: - Reports

  @Test func `notes and fields of reports are redacted too, unless the app turns that off`() async throws {
    var app = app
    app.configuration.redaction = .usualSecrets
    let note = "I can't log in as anna@example.com, password=hunter2"
    let fields = ["token": "s3cr3t", "steps": "Bearer abc.def.ghi", "severity": "high"]
    for isRedacting in [true, false] {
      app.configuration.redactsReports = isRedacting
      let mode = app.launch()
      mode.state = .recording
      _ = mode.process(#"{"token":"s3cr3t"}"#, "a")
      let zip = app.temporary.file("a.zip")
      let manifest = try await mode.makeSnapshot(note: note, fields: fields, to: zip).manifest
      await mode.close()
      guard isRedacting else {
        #expect(manifest.note == note && manifest.fields == fields)
        continue
      }
      #expect(
        manifest.note?.withUniformPlaceholders == "I can't log in as [redacted], password=[redacted]")
      #expect(
        manifest.fields.mapValues(\.withUniformPlaceholders) == [
          "token": "[redacted]", "steps": "Bearer [redacted]", "severity": "high",
        ])
      // Equal secrets of the note, the fields and the recordings are equal in the copy.
      let recording = try Data(contentsOf: app.storage.appending(path: "recordings/a"))
      #expect(recording == Data(#"{"token":"\#(manifest.fields["token"] ?? "")"}"#.utf8))
    }
  }

  @Test func `a note that becomes too long by its placeholders is cut off at the limit`() async throws {
    var app = app
    app.configuration.redaction = .usualSecrets
    let limit = Manifest.Limits.default.noteLength
    let note = String(repeating: "ü", count: 8) + String(repeating: " pin=1", count: limit / 6 - 3)
    let mode = app.launch()
    let manifest = try await mode.makeSnapshot(note: note, to: app.temporary.file("a.zip")).manifest
    let left = try #require(manifest.note)
    #expect(left.utf8.count == limit && left.hasPrefix("üüüüüüüü pin=[redacted-"))
    await #expect(throws: BundleError.self) {
      try await mode.makeSnapshot(
        note: String(repeating: "x", count: limit + 1), to: app.temporary.file("b.zip"))
    }
  }

  // MARK: - Nowhere

  @Test func `no byte of a secret is anywhere in the folder or the zip`() async throws {
    var app = app
    let secrets = [
      "hunter2hunter2", "anna.b@example.com", "4111111111111111", "4111 1111 1111 1111", "tok_9f8e7d6c",
      "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "sid=abcdef123456", "YW5uYTpnZWhlaW0=", "a/b+c/d==",
      "influenza",
    ]
    app.configuration.redaction = .usualSecrets
    app.configuration.redaction.append(.jsonKeys(["diagnosis"], named: "health"))
    app.configuration.policy.retention = .history(limit: 5)
    let long = String(repeating: "x", count: 300)
    let documents: [(String, String)] = [
      ("login", #"{"user":{"password":"hunter2hunter2","email":"anna.b@example.com"},"n":1}"#),
      ("escaped", #"{"note":"Bearer a\/b+c\/d== and anna.b\u0040example.com"}"#),
      ("nested", #"{"body":"{\"refresh_token\":\"tok_9f8e7d6c\"}"}"#),
      ("card", #"{"number":4111111111111111,"text":"4111 1111 1111 1111"}"#),
      ("head", "GET / HTTP/1.1\r\nAuthorization: Basic YW5uYTpnZWhlaW0=\r\nCookie: sid=abcdef123456\r\n\r\n"),
      (
        "log",
        "token=tok_9f8e7d6c&x=1 password: 'hunter2hunter2' jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"
      ),
      ("form", "password=hunter2hunter2&email=anna.b%40example.com"),
      ("user?token=tok_9f8e7d6c&email=anna.b@example.com", "fine"),
      (long + "?password=hunter2hunter2", "fine"),
      ("truncated", #"{"password":"hunter2hunter2","#),
      ("anna.b@example.com", #"{"anna.b@example.com":{"diagnosis":"influenza"}}"#),
    ]
    let mode = app.launch()
    mode.register(module: "Users", files: ["anna.b@example.com", "login"])
    mode.state = .recording
    for (identifier, text) in documents {
      #expect(mode.process(text, identifier) == text)
      _ = mode.process(data: try #require(text.data(using: .utf16)), uniqueIdentifier: identifier)
      _ = mode.process(data: Data([0, 0xFF]) + Data(text.utf8), uniqueIdentifier: "binary/" + identifier)
    }
    mode.attach(name: "log.txt", data: Data("12:00 token=tok_9f8e7d6c anna.b@example.com".utf8))
    let zip = app.temporary.file("a.zip")
    let packed = try await mode.makeSnapshot(to: zip)
    #expect(
      packed.manifest.redactions == [
        "authorization", "cookies", "tokens", "e-mail", "card-numbers", "health",
      ])
    #expect(packed.manifest.recordings.count > 20)
    #expect(app.events.kinds.allSatisfy { $0 == .redactionFailed })

    let unpacked = app.temporary.file("unpacked")
    _ = try SnapshotBundle.unpack(zip: zip, into: unpacked)
    for secret in secrets {
      for form in [secret, secret.replacing("/", with: "\\/"), secret.replacing("@", with: "%40")] {
        #expect(try places(of: form, in: app.storage).isEmpty, "\(form)")
        #expect(try places(of: form, in: unpacked).isEmpty, "\(form)")
        #expect(try Data(contentsOf: zip).firstRange(of: Data(form.utf8)) == nil)
      }
    }
    #expect(await mode.report().modules.first?.missing == [])
    mode.state = .replaying
    #expect(mode.process("live", "user?token=tok_9f8e7d6c&email=anna.b@example.com") == "fine")
    // Another developer's app with different rules finds it too, by the same name.
    let other = try SampleApp()
    let replaying = other.launch()
    try await replaying.activate(bundle: zip)
    #expect(replaying.process("live", "user?token=[redacted]&email=[redacted]") == "fine")
  }

  /// The files below `folder` that contain `secret` in their names or bytes, in UTF-8 or UTF-16.
  private func places(of secret: String, in folder: URL) throws -> [String] {
    let forms = [String.Encoding.utf8, .utf16LittleEndian, .utf16BigEndian].compactMap {
      secret.data(using: $0)
    }
    let name = RecordingName(secret).description
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { path in
      if path.contains(name) || path.contains(secret) { return true }
      let file = folder.appending(path: path)
      guard Folder.isRegularFile(file.path) else { return false }
      let data = try Data(contentsOf: file)
      return forms.contains { data.firstRange(of: $0) != nil }
    }
  }
}
