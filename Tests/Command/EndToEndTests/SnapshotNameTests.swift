import Foundation
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

@testable import snapshot

/// The ways to name a snapshot on a server.
@Suite struct SnapshotNameTests {
  private let id = "3f2b6c1e-8d4a-4b5f-9c0d-1e2f3a4b5c6d"

  private func record(_ id: String, report: String = "BUG-1") throws -> SnapshotRecord {
    SnapshotRecord(
      id: try #require(SnapshotID(id)), report: try ReportID(validating: report), size: 1, sha256: .of([]),
      receivedAt: Date(timeIntervalSince1970: 1_790_000_000), verified: .intact,
      manifest: Manifest(
        id: SnapshotID(), createdAt: Date(timeIntervalSince1970: 1_790_000_000),
        application: .init(identifier: "a", version: "1", build: "1"),
        device: .init(model: "m", system: "iOS", systemVersion: "26", locale: "en")))
  }

  /// A search among `records`, as a server does it: for a text, also elsewhere than in UUIDs.
  private func search(_ records: [SnapshotRecord], hasMore: Bool = false) -> SnapshotName.Search {
    { filter, limit in
      (Array(records.filter { filter.report == nil || $0.report == filter.report }.prefix(limit)), hasMore)
    }
  }

  private func failure(_ text: String, _ records: [SnapshotRecord], hasMore: Bool = false) async
    -> CommandFailure?
  {
    await #expect(throws: CommandFailure.self) {
      try await SnapshotName(text).find(by: search(records, hasMore: hasMore))
    }
  }

  @Test(arguments: ["3f2b6c", "3F2B6C1E", "3f2b6c1e-", "3f2b6c1e-8d4", "3f2b6c1e8d4a4b5f9c0d1e2f3a4b5c6"])
  func `the beginning of a UUID names it`(text: String) async throws {
    let records = [try record("3f2b6d00-0000-4000-8000-000000000000"), try record(id)]
    #expect(try await SnapshotName(text).find(by: search(records)).description == id)
  }

  @Test(arguments: ["3f2b6", "3f2b6-c1e", "g12345", "feed", "", "a b1", "décade"])
  func `any other text is refused without a search`(text: String) {
    #expect(throws: CommandFailure.self) {
      let name = try SnapshotName(text)
      // A text with a digit can be a report.
      guard name.beginning == nil, name.report != nil else { return }
      throw CommandFailure("a report")
    }
  }

  @Test func `an ambiguous beginning names five candidates, and an unknown one none`() async throws {
    let records = try (0..<7).map {
      try record("3f2b6c0\($0)-0000-4000-8000-000000000000", report: "BUG-\($0)")
    }
    let ambiguous = await failure("3f2b6c", records)
    #expect(ambiguous?.description.hasPrefix("7 UUIDs begin with 3f2b6c: 3f2b6c00-") == true)
    #expect(ambiguous?.description.contains("(BUG-4) and 2 more.") == true)
    #expect(ambiguous?.description.contains("BUG-5") == false)
    #expect(await failure("3f2b6d", records)?.description.contains("begins with 3f2b6d") == true)
    #expect(await failure("decade", [], hasMore: true)?.description.contains("more digits") == true)
  }

  @Test func `a report names its newest snapshot, unless a UUID begins so too`() async throws {
    let other = "12345600-0000-4000-8000-000000000000"
    let records = [try record(id, report: "123456"), try record(other)]
    #expect(try await SnapshotName("123456").find(by: search([records[0]])).description == id)
    let failure = await failure("123456", records)
    #expect(failure?.description.contains(id) == true && failure?.description.contains(other) == true)
    #expect(
      try await SnapshotName("123456").find(acceptsReports: false, by: search(records)).description == other)
  }

  // MARK: With a server

  @Test func `every command finds a snapshot by its beginning, report, file name and page`() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(storage: folder.file("storage"))
    let environment = ["SNAPSHOT_SERVER": server.url.absoluteString]
    let (zip, id) = try await Sample.bundle(in: folder)
    let upload = try await Product.run(["upload", zip.path, "--report", "BUG-812"], environment: environment)
    try #require(upload.status == 0, "\(upload.errors)")
    let beginning = String(id.description.prefix(8))
    let page = server.address("/snapshots/\(id)/files/recordings/feed%252f0.json?view=tree&at=%2Fa")
    for name in [beginning, "BUG-812", "\(id).zip", page] {
      // The address contains the server.
      let environment = name == page ? [:] : environment
      for (arguments, status) in [
        (["inspect", name], 0), (["diff", name, name], 0), (["verify", name], 0), (["secrets", name], 0),
        (["link", name, "--expires", "1h"], 0), (["pin", name], 0), (["expire", name, "--at", "1d"], 0),
        (["open", name, "--print"], 0),
      ] as [([String], Int32)] {
        let outcome = try await Product.run(arguments, environment: environment, folder: folder.url)
        #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
        let tells = name == "BUG-812" && outcome.errors.contains("The newest snapshot of BUG-812 is \(id), ")
        #expect(tells == (name == "BUG-812"), "\(arguments): \(outcome.errors)")
        if arguments[0] == "open" { #expect(outcome.lines == [server.address("/snapshots/\(id)")]) }
      }
      let target = folder.file("\(name == page ? "page" : name)-fetched.zip").path
      let fetch = try await Product.run(["fetch", name, "--output", target], environment: environment)
      #expect(fetch.status == 0, "\(fetch.errors)")
    }
    let redacted = folder.file("redacted.zip").path
    #expect(
      try await Product.run(["redact", "BUG-812", "--output", redacted], environment: environment).status == 0
    )
  }

  @Test func `a file that exists is meant before a snapshot on the server`() async throws {
    let folder = try TemporaryFolder()
    let (zip, id) = try await Sample.bundle(in: folder)
    let copy = folder.file("\(id).zip")
    try FileManager.default.copyItem(at: zip, to: copy)
    try FileManager.default.copyItem(at: zip, to: folder.file("BUG-812"))
    // Port 9 is closed.
    for name in [copy.lastPathComponent, "BUG-812"] {
      let outcome = try await Product.run(
        ["verify", name, "--server", "http://127.0.0.1:9"], folder: folder.url)
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
    let missing = try await Product.run(
      ["verify", "feed2.json", "--server", "http://127.0.0.1:9"], folder: folder.url)
    #expect(missing.errors == "Error: There is no file or folder at feed2.json.\n")
    let unknown = try await Product.run(
      ["verify", "BUG-9", "--server", "http://127.0.0.1:9"], folder: folder.url)
    #expect(
      unknown.errors.hasPrefix("Error: There is no file or folder BUG-9, and on the server: "),
      "\(unknown.errors)")
  }

  @Test func `the server of --server is used instead of that in an address`() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(storage: folder.file("storage"))
    let (zip, id) = try await Sample.bundle(in: folder)
    let options = ["--server", server.url.absoluteString]
    _ = try await Product.run(["upload", zip.path, "--report", "A"] + options)
    let outcome = try await Product.run(["inspect", "http://127.0.0.1:9/snapshots/\(id)"] + options)
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  @Test func `open starts the system's program with the address`() async throws {
    let folder = try TemporaryFolder()
    let opener = try folder.write(Data("#!/bin/sh\necho \"$@\" > \"$OPENED\"\n".utf8), to: "bin/xdg-open")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: opener.path)
    let opened = folder.file("opened")
    let path = "\(folder.file("bin").path):/usr/bin:/bin"
    let arguments = ["open", id, "--server", "http://127.0.0.1:9/a"]
    let outcome = try await Product.run(arguments, environment: ["PATH": path, "OPENED": opened.path])
    #expect(outcome.status == 0, "\(outcome.errors)")
    let address = "http://127.0.0.1:9/a/snapshots/\(id)"
    #expect(outcome.lines == [address])
    #expect(try String(contentsOf: opened, encoding: .utf8) == address + "\n")
    let none = try await Product.run(arguments, environment: ["PATH": folder.file("empty").path])
    #expect(none.status == 1)
    #expect(none.lines == [address] && none.errors.contains("xdg-open"), "\(none.errors)")
  }
}
