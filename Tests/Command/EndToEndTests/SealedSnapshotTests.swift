import Foundation
import SnapshotFormat
import SnapshotSealing
import SystemIO
import TestSupport
import Testing

/// Sealed bundles with the command and a server that can't read them.
@Suite struct SealedSnapshotTests {
  /// Words in every part of a snapshot that a clear head does not show unless it is told to.
  private enum Canary {
    static let identifier = "canaryidentifier", contents = "canarycontents", note = "canarynote"
    static let field = "canaryfield", value = "canaryvalue", attachment = "canaryattachment"
    static let module = "canarymodule", rule = "canaryrule", unknown = "canaryunknown"
    static let all = [identifier, contents, note, field, value, attachment, module, rule, unknown]
  }

  private let folder: TemporaryFolder
  private let identity = SealingIdentity.generate()
  private let stranger = SealingIdentity.generate()
  private let id = SnapshotID()
  private var key: String { folder.file("key.txt").path }
  private var otherKey: String { folder.file("other-key.txt").path }
  private var recipient: String { identity.recipient.description }

  init() throws {
    folder = try TemporaryFolder()
    for (identity, name) in [(identity, "key.txt"), (stranger, "other-key.txt")] {
      let text = IdentityFile.contents(of: identity, createdAt: "2026-11-21T15:04:05Z")
      try folder.write(Data(text.utf8), to: name)
    }
    let contents = Data("{\"text\":\"\(Canary.contents)\",\"empty\":\"\"}".utf8)
    var manifest = Manifest(
      id: id, createdAt: Date(timeIntervalSince1970: 1_800_000_000),
      application: .init(identifier: "com.example.news", version: "3.1", build: "7"),
      device: .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.0", locale: "de_AT"),
      modules: [Module(name: Canary.module, files: [Canary.identifier])], redactions: [Canary.rule],
      note: Canary.note, fields: [Canary.field: Canary.value])
    manifest.recordings = [
      .init(
        identifier: Canary.identifier, path: "recordings/\(Canary.identifier)", size: Int64(contents.count),
        sha256: .of(Array(contents)), recordedAt: manifest.createdAt)
    ]
    manifest.unknown["extra"] = .string(Canary.unknown)
    try folder.write(contents, to: "snapshot/recordings/\(Canary.identifier)")
    try folder.write(Data(Canary.contents.utf8), to: "snapshot/attachments/\(Canary.attachment).txt")
    try folder.write(manifest.json(), to: "snapshot/manifest.json")
  }

  private func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Tool.Outcome {
    try await Product.run(arguments, environment: environment)
  }

  /// Seals the snapshot's folder into a bundle.
  private func pack(_ name: String = "sealed.zip", _ more: [String] = []) async throws -> URL {
    let zip = folder.file(name)
    let outcome = try await run(
      ["pack", folder.file("snapshot").path, "--output", zip.path, "--seal-to", recipient] + more)
    try #require(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.lines == [id.description])
    return zip
  }

  /// Every word of a canary that is in the files below `root`, with the file.
  private func canaries(below root: URL) throws -> [String] {
    var found: [String] = []
    for name in try FileManager.default.subpathsOfDirectory(atPath: root.path) {
      if let word = Canary.all.first(where: name.contains) { found.append("\(word) is in the name \(name)") }
      guard Folder.isRegularFile(root.path + "/" + name) else { continue }
      let bytes = try Data(contentsOf: root.appending(path: name))
      for word in Canary.all where bytes.firstRange(of: Data(word.utf8)) != nil {
        found.append("\(word) is in \(name)")
      }
    }
    return found
  }

  @Test func `a server keeps no byte of what a sealed bundle hides`() async throws {
    let storage = folder.file("server/storage")
    try FileManager.default.createDirectory(at: folder.file("server"), withIntermediateDirectories: true)
    let server = try await TestServer(storage: storage)
    let address = ["--server", server.url.absoluteString]
    let upload = try await run(
      ["upload", folder.file("snapshot").path, "--report", "BUG-1", "--seal-to", recipient, "--json"]
        + address)
    try #require(upload.status == 0, "\(upload.errors)")
    let record = try SnapshotJSON.decode(SnapshotRecord.self, from: upload.output)
    #expect(record.sealed?.recipients == [.init(type: "X25519", recipient: recipient)])
    #expect(record.application.identifier == "com.example.news" && record.metadata.isEmpty)

    // Everything that reads contents.
    for path in [
      "/v1/snapshots/\(id)/files", "/v1/snapshots/\(id)/files/sealed.age", "/v1/snapshots/\(id)/files.zip",
    ] {
      let answer = try await Curl([server.address(path)])
      #expect(answer.status == 422)
      #expect(try answer.json["type"] as? String == "urn:data-snapshots:problem:snapshot-sealed", "\(path)")
      #expect(answer.text.contains("snapshot view \(id) --identity FILE"))
    }
    let page = try await Curl([server.address("/snapshots/\(id)")])
    #expect(page.status == 200 && page.text.contains("This snapshot is sealed"))
    #expect(page.text.contains("snapshot view \(id) --identity FILE") && page.text.contains(recipient))
    #expect(try await Curl([server.address("/snapshots/\(id)/files/sealed.age")]).status == 422)
    #expect(try await Curl([server.address("/snapshots/\(id)/search?find=canary")]).status == 422)
    let other = try await Curl([server.address("/snapshots/\(id)/diff?with=\(id)")])
    #expect(other.status == 422 && other.text.contains("is sealed"))
    let report = try await Curl([server.address("/reports/BUG-1")])
    #expect(report.status == 200 && report.text.contains("Sealed"))
    let search = try await Curl([server.address("/search?find=canary")])
    #expect(search.status == 200 && search.text.contains("1 sealed snapshot can"))
    for word in Canary.all {
      let found = try await Curl([server.address("/v1/snapshots?text=\(word)")])
      #expect(try (found.json["snapshots"] as? [Any])?.isEmpty == true, "\(word)")
    }

    let backup = try await run(["backup", folder.file("server/backup").path, "--storage", storage.path])
    #expect(backup.status == 0, "\(backup.errors)")
    #expect(await server.program.stop() == 0)
    #expect(try canaries(below: folder.file("server")) == [])
    #expect(try Canary.all.filter(server.program.errors.contains) == [])
    // What the search would find.
    #expect(try canaries(below: folder.file("snapshot")).count >= Canary.all.count)
  }

  @Test func `a snapshot comes back with an identity, and stays sealed without one`() async throws {
    let server = try await TestServer(storage: folder.file("storage"))
    let address = ["--server", server.url.absoluteString]
    let sealed = try await pack()
    let upload = try await run(["upload", sealed.path, "--report", "BUG-1"] + address)
    try #require(upload.status == 0, "\(upload.errors)")

    let kept = folder.file("kept.zip")
    let without = try await run(["fetch", "\(id)", "--output", kept.path] + address)
    #expect(
      without.status == 0 && without.errors.contains("is sealed to \(recipient), and the file stays sealed"))
    #expect(try Data(contentsOf: kept) == Data(contentsOf: sealed))

    let opened = folder.file("opened.zip")
    let fetch = try await run(["fetch", "\(id)", "--output", opened.path, "--identity", key] + address)
    #expect(fetch.status == 0, "\(fetch.errors)")
    #expect(try SnapshotBundle.validate(zip: opened, depth: .full).note == Canary.note)
    let into = folder.file("into")
    let unpacked = try await run(
      ["fetch", "\(id)", "--into", into.path] + address, environment: ["SNAPSHOT_IDENTITY": key])
    #expect(unpacked.status == 0, "\(unpacked.errors)")
    #expect(Folder.isRegularFile(into.path + "/recordings/\(Canary.identifier)"))
    let refused = try await run(["fetch", "\(id)", "--into", folder.file("no").path] + address)
    #expect(refused.status == 2 && refused.errors.contains("pass --identity FILE"))
    #expect(!FileManager.default.fileExists(atPath: folder.file("no").path))
    let grep = try await run(["grep", Canary.contents, "--report", "BUG-1", "--identity", key] + address)
    #expect(grep.status == 0 && grep.text.contains(Canary.identifier), "\(grep.errors)")
  }

  @Test func `every command that reads opens a sealed bundle with an identity`() async throws {
    let zip = try await pack().path
    let plain = folder.file("plain.zip").path
    #expect(try await run(["pack", folder.file("snapshot").path, "--output", plain]).status == 0)
    let copy = folder.file("copy.zip").path
    try FileManager.default.createDirectory(at: folder.file("tests"), withIntermediateDirectories: true)
    let calls: [(arguments: [String], status: Int32, word: String)] = [
      (["inspect", zip], 0, Canary.identifier), (["cat", zip, Canary.identifier], 0, Canary.contents),
      (["grep", Canary.contents, zip], 0, Canary.identifier), (["diff", zip, plain], 0, ""),
      (["problems", zip], 0, ""), (["verify", zip], 0, "1 recording, all intact"),
      (["run", zip, "--", "sh", "-c", "ls \"$DATA_SNAPSHOTS_REPLAY/recordings\""], 0, Canary.identifier),
      (["redact", zip, "--output", copy], 0, ""), (["secrets", zip], 0, ""),
      (["test", zip, "--into", folder.file("tests").path], 0, "swift test"),
      (["export", zip, "--har", folder.file("a.har").path], 0, "a.har"),
    ]
    for (arguments, status, word) in calls {
      let name = arguments[0]
      // Options after `--` belong to the program that `run` starts.
      let place = arguments.firstIndex(of: "--") ?? arguments.endIndex
      func with(_ options: [String]) -> [String] { arguments[..<place] + options + arguments[place...] }
      if name != "verify" {
        let wrong = try await run(with(["--identity", otherKey]))
        #expect(wrong.status == 2 && wrong.errors.contains("sealed to others"), "\(name): \(wrong.errors)")
        let without = try await run(arguments)
        #expect(
          without.status == 2 && without.errors.contains("pass --identity FILE"), "\(name): \(without.errors)"
        )
      }
      let opened = try await run(with(["--identity", key]))
      #expect(opened.status == status, "\(name): \(opened.errors)")
      #expect(word.isEmpty || opened.text.contains(word), "\(name): \(opened.text)")
    }
    let verify = try await run(["verify", zip])
    #expect(verify.status == 0 && verify.text.contains("sealed snapshot \(id), intact as far as"))
  }

  @Test func `wrong identities and recipients have a sentence each`() async throws {
    let zip = try await pack().path
    try folder.write(Data("AGE-PLUGIN-YUBIKEY-1QQQQQQQQQQQQQQQ\n".utf8), to: "plugin")
    try folder.write(Data("nothing\n".utf8), to: "text")
    for (name, words) in [
      ("plugin", "plugin"), ("text", "text: "), ("missing", "there is no such file"), ("snapshot", "folder"),
    ] {
      let outcome = try await run(["inspect", zip, "--identity", folder.file(name).path])
      #expect(outcome.status == 2 && outcome.errors.contains(words), "\(outcome.errors)")
    }
    let target = folder.file("b.zip")
    for (arguments, status, words) in [
      (["--seal-to", "age1nonsense"], 2, "age1"), (["--show", "note"], 64, "needs --seal-to"),
      (["--seal-to", recipient, "--show", "everything"], 64, "--show takes"),
      (["--seal-to", recipient, "--show", "none", "--show", "note"], 64, "excludes"),
    ] as [([String], Int32, String)] {
      let outcome = try await run(
        ["pack", folder.file("snapshot").path, "--output", target.path] + arguments)
      #expect(outcome.status == status && outcome.errors.contains(words), "\(outcome.errors)")
      #expect(!FileManager.default.fileExists(atPath: target.path))
    }
    let upload = try await run(
      [
        "upload", zip, "--report", "BUG-1", "--seal-to", recipient, "--note", "a", "--server",
        "http://127.0.0.1:9",
      ])
    #expect(upload.status == 64 && upload.errors.contains("the server would see them"), "\(upload.errors)")
  }

  @Test func `a server can accept sealed bundles only`() async throws {
    let server = try await TestServer(
      storage: folder.file("storage"), environment: ["SNAPSHOT_SERVER_SEALED_ONLY": "true"])
    let address = ["--server", server.url.absoluteString]
    let clear = try await run(["upload", folder.file("snapshot").path, "--report", "BUG-1"] + address)
    #expect(clear.status == 2 && clear.errors.contains("sealed bundles only"), "\(clear.errors)")
    let (zip, _) = try await Sample.bundle(in: folder)
    let problem = try await Curl([
      "-X", "POST", "-H", "Content-Type: application/zip", "--data-binary", "@\(zip.path)",
      server.address("/v1/reports/BUG-1/snapshots"),
    ])
    #expect(problem.status == 422)
    #expect(try problem.json["type"] as? String == "urn:data-snapshots:problem:sealed-only")
    let sealed = try await pack()
    #expect(try await run(["upload", sealed.path, "--report", "BUG-1"] + address).status == 0)
  }

  @Test func `a bundle is sealed again for a new member of the team`() async throws {
    let zip = try await pack()
    let target = folder.file("again.zip").path
    let new = stranger.recipient.description
    let outcome = try await run(
      ["keys", "rewrap", zip.path, "--identity", key, "--to", new, "--output", target, "--json"])
    try #require(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.text.contains(id.description) && outcome.errors.contains("2 recipients"))
    let inspected = try await run(["inspect", target, "--identity", otherKey])
    #expect(inspected.status == 0 && inspected.text.contains(id.description), "\(inspected.errors)")
    let only = folder.file("only.zip").path
    let second = try await run(
      ["keys", "rewrap", zip.path, "--identity", key, "--to", new, "--only", "--output", only])
    #expect(second.status == 0, "\(second.errors)")
    #expect(try await run(["inspect", only, "--identity", key]).status == 2)
    for (arguments, words) in [
      ([zip.path, "--identity", otherKey], "sealed to others"), ([zip.path], "An identity is needed"),
      ([folder.file("snapshot").path, "--identity", key], "is not a sealed bundle"),
    ] {
      let refused = try await run(
        ["keys", "rewrap", "--to", new, "--output", folder.file("c.zip").path] + arguments)
      #expect(refused.status == 2 && refused.errors.contains(words), "\(refused.errors)")
    }
    let taken = try await run(
      ["keys", "rewrap", zip.path, "--identity", key, "--to", new, "--output", target])
    #expect(taken.status == 2 && taken.errors.contains("exists already"))
  }

  @Test(
    .enabled(if: Tool.find("age") != nil && Tool.find("unzip") != nil, "age or unzip isn't installed"))
  func `unzip and age open what the command sealed`() async throws {
    let zip = try await pack()
    let inner = folder.file("inner.zip")
    let command = "unzip -p '\(zip.path)' sealed.age | age -d -i '\(key)' > '\(inner.path)'"
    let outcome = try await Tool.run("sh", ["-c", command])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try SnapshotBundle.validate(zip: inner, depth: .full).note == Canary.note)
  }
}
