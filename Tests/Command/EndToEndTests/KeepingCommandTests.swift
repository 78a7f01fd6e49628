import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// Pins, expiration, retention rules and damage, with the command.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct KeepingCommandTests {
  private let folder: TemporaryFolder
  private var storage: URL { folder.file("storage") }

  init() throws { folder = try TemporaryFolder() }

  private func upload(_ count: Int, to server: TestServer, _ arguments: [String] = []) async throws
    -> [SnapshotID]
  {
    var ids: [SnapshotID] = []
    for seed in 0..<count {
      let (zip, id) = try await Sample.bundle(in: folder, seed: seed)
      let upload = try await Product.run(
        ["upload", zip.path, "--report", "BUG-1", "--server", server.url.absoluteString] + arguments)
      try #require(upload.status == 0, "\(upload.errors)")
      ids.append(id)
    }
    return ids
  }

  private func place(of id: SnapshotID, _ kind: String) -> URL {
    storage.appending(path: "bundles/\(id.description.prefix(2))/\(id).\(kind)")
  }

  /// Flips one bit in the middle of a file.
  private func flip(_ file: URL) throws {
    var bytes = try Data(contentsOf: file)
    bytes[bytes.count / 2] ^= 0x10
    try FileManager.default.removeItem(at: file)
    try bytes.write(to: file)
  }

  @Test(arguments: ["zip", "json"], [true, false])
  func `scrub finds a flipped bit, in the storage and through the server`(
    kind: String, isServed: Bool
  ) async throws {
    let server = try await TestServer(storage: storage)
    let ids = try await upload(3, to: server)
    if !isServed { await server.program.stop() }
    let whole = isServed ? ["--server", server.url.absoluteString] : ["--storage", storage.path]
    let clean = try await Product.run(["scrub", "--json"] + whole)
    #expect(clean.status == 0, "\(clean.errors)")
    let report = try SnapshotJSON.decode(ScrubReport.self, from: clean.output)
    #expect(report.bundles == 3 && report.damaged == 0 && report.bytes > 0 && !report.isRunning)

    try flip(place(of: ids[1], kind))
    for _ in 0..<2 {
      let outcome = try await Product.run(["scrub"] + whole)
      #expect(outcome.status == 2, "\(outcome.errors)")
      #expect(outcome.lines == ["\(ids[1])"])
      #expect(outcome.errors.contains("1 of 3 are damaged"))
    }
    let restarted = isServed ? server : try await TestServer(storage: storage)
    let bundle = try await Curl([restarted.address("/v1/snapshots/\(ids[1]).zip")])
    #expect(bundle.status == 500)
    #expect(try bundle.json["type"] as? String == "urn:data-snapshots:problem:snapshot-damaged")
    if kind == "zip" {
      let record = try await Curl([restarted.address("/v1/snapshots/\(ids[1])")])
      #expect(try record.json["verified"] as? String == "damaged")
      let put = try await Product.run([
        "upload", folder.file("bundle-1.zip").path, "--report", "BUG-1", "--server",
        restarted.url.absoluteString,
      ])
      #expect(put.lines == ["\(ids[1])"], "\(put.errors)")
      #expect(try await Curl([restarted.address("/v1/snapshots/\(ids[1]).zip")]).status == 200)
    }
    for id in [ids[0], ids[2]] {
      #expect(try await Curl([restarted.address("/v1/snapshots/\(id).zip")]).status == 200)
    }
  }

  @Test(arguments: [true, false])
  func `expire deletes unpinned snapshots by the rules, and shows them before`(isServed: Bool) async throws {
    let settings = try folder.write(
      Data("server:\n  retention:\n    countPerReport: 1\n".utf8), to: "server.yaml")
    let server = try await TestServer(storage: storage, ["--config", settings.path])
    let ids = try await upload(4, to: server)
    if !isServed { await server.program.stop() }
    let target =
      isServed
      ? ["--server", server.url.absoluteString] : ["--storage", storage.path, "--config", settings.path]
    let withoutRules = isServed ? target : ["--storage", storage.path]
    let pin = try await Product.run(["pin", "\(ids[0])", "--json"] + withoutRules, folder: folder.url)
    #expect(try SnapshotJSON.decode([SnapshotRecord].self, from: pin.output).map(\.isPinned) == [true])
    let mark = try await Product.run(["mark-good", "\(ids[3])", "--json"] + target, folder: folder.url)
    #expect(try SnapshotJSON.decode([SnapshotRecord].self, from: mark.output).map(\.isGood) == [true])
    let unmark = try await Product.run(["mark-good", "--remove", "\(ids[3])"] + target)
    #expect(unmark.lines == ["\(ids[3])"])
    let plan = try await Product.run(["expire", "--dry-run"] + target)
    #expect(plan.status == 0, "\(plan.errors)")
    #expect(plan.lines.count == 2)
    #expect(plan.lines.first?.hasPrefix("\(ids[1])") == true)
    #expect(plan.lines.allSatisfy { $0.contains("newest 1 of its report") })
    let json = try await Product.run(["expire", "--dry-run", "--json"] + target)
    let expirations = try SnapshotJSON.decode([Expiration].self, from: json.output)
    #expect(expirations.map(\.id) == [ids[1], ids[2]])
    #expect(expirations.allSatisfy { $0.rule == .countPerReport })
    let expire = try await Product.run(["expire"] + target)
    #expect(expire.lines == plan.lines)
    #expect(try await Product.run(["expire"] + target).lines.isEmpty)
    let unpin = try await Product.run(["pin", "--remove", "\(ids[0])"] + target)
    #expect(unpin.lines == ["\(ids[0])"])
    #expect(try await Product.run(["expire", "--json"] + target).text.contains("\(ids[0])"))

    let restarted = isServed ? server : try await TestServer(storage: storage)
    for id in ids.dropLast() {
      #expect(try await Curl([restarted.address("/v1/snapshots/\(id)")]).status == 410)
      #expect(try Data(contentsOf: place(of: id, "deleted")).isEmpty)
      for kind in ["zip", "json"] {
        #expect(!FileManager.default.fileExists(atPath: place(of: id, kind).path))
      }
    }
    #expect(try await Curl([restarted.address("/v1/snapshots/\(ids[3]).zip")]).status == 200)
    let list = try await Product.run(["list", "--server", restarted.url.absoluteString])
    #expect(list.lines.count == 2)
  }

  @Test(arguments: [true, false])
  func `deleting more than a fifth of all snapshots requires --confirm`(isServed: Bool) async throws {
    let filled = try await TestServer(storage: storage)
    let (zip, _) = try await Sample.bundle(in: folder)
    let address = filled.address("/v1/reports/BUG-1/snapshots")
    let attached = try await Tool.run(
      "curl",
      ["--silent", "--fail", "-H", "Content-Type: application/zip", "--data-binary", "@\(zip.path)"]
        + Array(repeating: address, count: 101))
    try #require(attached.status == 0, "\(attached.errors)")
    await filled.program.stop()
    let settings = try folder.write(
      Data("server:\n  retention:\n    countPerReport: 1\n    interval: 1s\n".utf8), to: "server.yaml")
    let server = try await TestServer(storage: storage, ["--config", settings.path])
    while true {
      let metrics = try await Curl([server.address("/metrics")])
      if String(decoding: metrics.body, as: UTF8.self).contains("\nsnapshot_expirations_held 100\n") { break }
    }
    #expect(try server.program.errors.contains("100 of 101 snapshots would be deleted at once"))
    if !isServed { await server.program.stop() }
    let target =
      isServed
      ? ["--server", server.url.absoluteString] : ["--storage", storage.path, "--config", settings.path]
    let plan = try await Product.run(["expire", "--dry-run"] + target)
    #expect(plan.lines.count == 100)
    #expect(plan.errors.contains("snapshot expire --confirm"))
    let held = try await Product.run(["expire"] + target)
    #expect(held.status != 0 && held.lines.isEmpty)
    #expect(held.errors.contains("snapshot expire --confirm"), "\(held.errors)")
    let confirmed = try await Product.run(["expire", "--confirm"] + target)
    #expect(confirmed.status == 0, "\(confirmed.errors)")
    // As soon as fewer than 100 snapshots are expired, the server's own passes delete them too.
    #expect(!confirmed.lines.isEmpty && Set(confirmed.lines).isSubset(of: plan.lines))
    let rest = isServed ? server : try await TestServer(storage: storage)
    #expect(try await Product.run(["list", "--server", rest.url.absoluteString]).lines.count == 2)
  }

  @Test(arguments: [-30, 4380] as [Double], [true, false])
  func `while the clock may be wrong nothing is deleted, and the server, doctor and expire say so`(
    days: Double, isServed: Bool
  ) async throws {
    let settings = try folder.write(
      Data("server:\n  retention:\n    countPerReport: 1\n    interval: 1s\n".utf8), to: "server.yaml")
    let filled = try await TestServer(storage: storage)
    let ids = try await upload(2, to: filled)
    await filled.program.stop()
    // To the server, this looks like a clock that has jumped.
    let mark = try SnapshotJSON.encode(ClockMark(time: Date().timeIntervalSince1970 + days * 86_400))
    try mark.write(to: storage.appending(path: "clock"))
    let server = try await TestServer(storage: storage, ["--config", settings.path])
    func metric() async throws -> Substring? {
      let text = String(decoding: try await Curl([server.address("/metrics")]).body, as: UTF8.self)
      return text.split(separator: "\n").first { $0.hasPrefix("snapshot_deletions_held ") }
    }
    while try await metric() != "snapshot_deletions_held 1" {}
    while try !server.program.errors.contains("1 of 2 snapshots would be deleted") {}
    let ready = try await Curl([server.address("/readyz")])
    #expect(ready.status == 200)
    #expect((try ready.json["deletionsHeld"] as? String)?.hasPrefix("The clock shows 20") == true)
    let port = try #require(server.url.port)
    let doctor = try await Product.run(
      ["doctor", "--storage", storage.path], environment: ["SNAPSHOT_SERVER_PORT": "\(port)"])
    #expect(doctor.text.contains("Nothing is deleted automatically"), "\(doctor.text)")
    if !isServed { await server.program.stop() }
    let target =
      isServed
      ? ["--server", server.url.absoluteString] : ["--storage", storage.path, "--config", settings.path]
    let held = try await Product.run(["expire"] + target)
    #expect(held.status == 1 && held.lines.isEmpty)
    #expect(held.errors.hasPrefix("Error: The clock shows 20"), "\(held.errors)")
    #expect(held.errors.contains("1 of 2 snapshots would be deleted."), "\(held.errors)")
    #expect(try await Product.run(["expire", "--dry-run"] + target).lines.count == 1)
    let confirmed = try await Product.run(["expire", "--confirm"] + target)
    #expect(confirmed.status == 0, "\(confirmed.errors)")
    // As soon as the clock is believed, the server's own passes delete the snapshot too.
    #expect(isServed || confirmed.lines.first?.hasPrefix("\(ids[0])") == true)
    let rest = isServed ? server : try await TestServer(storage: storage)
    for (id, status) in zip(ids, [410, 200]) {
      #expect(try await Curl([rest.address("/v1/snapshots/\(id)")]).status == status)
    }
    if isServed { #expect(try await metric() == "snapshot_deletions_held 0") }
  }

  @Test func `an expiration date is set with the upload, changed, and applied by the server`() async throws {
    let server = try await TestServer(
      storage: storage, environment: ["SNAPSHOT_SERVER_RETENTION_INTERVAL": "1s"])
    let target = ["--server", server.url.absoluteString]
    let ids = try await upload(2, to: server, ["--expires", "30d"])
    let record = try await Curl([server.address("/v1/snapshots/\(ids[0])")])
    let text = try #require(try record.json["expiresAt"] as? String)
    #expect(try #require(SnapshotJSON.time(text)).timeIntervalSinceNow > 29 * 86_400)
    let never = try await Product.run(["expire", "\(ids[1])", "--at", "never"] + target)
    #expect(never.lines == ["\(ids[1])  never"], "\(never.errors)")
    let now = try await Product.run(["expire", "\(ids[0])", "--at", "2020-01-01T00:00:00Z"] + target)
    #expect(now.lines == ["\(ids[0])  2020-01-01T00:00:00.000Z"])
    while try await Curl([server.address("/v1/snapshots/\(ids[0])")]).status != 410 {}
    #expect(try await Curl([server.address("/v1/snapshots/\(ids[1])")]).status == 200)
    #expect(await server.program.stop() == 0)
    #expect(try server.program.errors.contains("A snapshot expired and was deleted"))
  }

  @Test func `snapshots are deleted through a server and without one`() async throws {
    let server = try await TestServer(storage: storage)
    let ids = try await upload(3, to: server)
    let target = ["--server", server.url.absoluteString]
    let delete = try await Product.run(["delete", "\(ids[0])"] + target)
    #expect(delete.lines == ["\(ids[0])"])
    let again = try await Product.run(["delete", "\(ids[1])", "\(ids[0])", "--json"] + target)
    #expect(again.status == 1)
    #expect(try SnapshotJSON.decode([SnapshotID].self, from: again.output) == [ids[1]])
    await server.program.stop()
    let local = try await Product.run(["delete", "\(ids[2])", "--storage", storage.path])
    #expect(local.lines == ["\(ids[2])"], "\(local.errors)")
    let gone = try await Product.run(["delete", "\(ids[2])", "--storage", storage.path])
    #expect(gone.status == 1)
    #expect(gone.errors.contains("was deleted"))
  }

  @Test func `a storage in use and a folder that is not a storage are refused`() async throws {
    let server = try await TestServer(storage: storage)
    let used = try await Product.run(["scrub", "--storage", storage.path])
    #expect(used.status == 1)
    #expect(used.errors.contains("--server"))
    let none = try await Product.run(["expire", "--storage", folder.file("none").path])
    #expect(none.status == 2)
    #expect(!FileManager.default.fileExists(atPath: folder.file("none").path))
    #expect(await server.program.stop() == 0)
  }

  @Test func `a store accepts no more than its quota, and still serves bundles`() async throws {
    let (zip, _) = try await Sample.bundle(in: folder)
    let size = try Data(contentsOf: zip).count
    let server = try await TestServer(
      storage: storage, environment: ["SNAPSHOT_SERVER_RETENTION_QUOTA_BYTES": "\(2 * size)"])
    func send(_ arguments: [String] = []) async throws -> Curl {
      try await Curl(
        ["--data-binary", "@\(zip.path)", "-H", "Content-Type: application/zip"] + arguments + [
          server.address("/v1/reports/BUG-1/snapshots")
        ])
    }
    let first = try await send()
    #expect(first.status == 201)
    #expect(try await send(["-H", "Transfer-Encoding: chunked"]).status == 201)
    for arguments in [["-H", "Expect: 100-continue"], ["-H", "Transfer-Encoding: chunked"]] {
      let full = try await send(arguments)
      #expect(full.status == 507)
      #expect(!full.head.contains("100 Continue") || arguments[1].hasPrefix("Transfer"))
      #expect(try full.json["type"] as? String == "urn:data-snapshots:problem:quota-exceeded")
    }
    let location = try #require(first.field("Location"))
    #expect(try await Curl([server.address(location + ".zip")]).status == 200)
    #expect(try await Curl(["-X", "DELETE", server.address(location)]).status == 204)
    #expect(try await send().status == 201)
  }

  @Test(
    arguments: [
      (["delete"], 64), (["pin"], 64), (["delete", "x"], 64), (["expire", "--at", "1d"], 64),
      (["expire", "00000000-0000-4000-8000-000000000000"], 64),
      (["expire", "00000000-0000-4000-8000-000000000000", "--at", "soon"], 64),
      (["expire", "00000000-0000-4000-8000-000000000000", "--at", "1d", "--dry-run"], 64),
      (["scrub", "--storage", "a", "--server", "http://127.0.0.1:9"], 64), (["scrub", "--config", "a"], 64),
      (["scrub", "--server", "http://127.0.0.1:9"], 1),
    ] as [([String], Int32)])
  func `wrong usage and failures have different exit statuses`(arguments: [String], status: Int32)
    async throws
  {
    let outcome = try await Product.run(arguments, folder: folder.url)
    #expect(outcome.status == status, "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
  }

  @Test(arguments: [
    ("age", "90"), ("countPerReport", "-1"), ("totalBytes", "1GB"), ("applications", "com.example"),
    ("applications", "a age=1d, a age=2d"), ("applications", "a age=1d age=2d"), ("applications", "a size=5"),
    ("interval", "0s"), ("quotaBytes", "x"), ("scrubInterval", "0"), ("scrubBytesPerSecond", "4095"),
  ])
  func `an error for an invalid setting names the setting`(name: String, value: String) async throws {
    let settings = try folder.write(
      Data("server:\n  retention:\n    \(name): \"\(value)\"\n".utf8), to: "server.yaml")
    let outcome = try await Product.run(["serve", "--config", settings.path], folder: folder.url)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("server.retention.\(name)"), "\(outcome.errors)")
  }
}
