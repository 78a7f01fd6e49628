import AccessControl
import Foundation
import HTTPEngine
import HTTPTypes
import Logging
import Observability
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import SystemIO
import TestSupport
import Testing

/// The audit log of the pages.
@Suite struct PageObservationTests {
  private let folder: TemporaryFolder
  private let guarded: GuardedAPI
  private let bundle: ZippedSample
  private let browser: PageBrowser

  init() async throws {
    folder = try TemporaryFolder()
    let audit = try AuditLog(
      .together(folder.file("audit.log").path), logger: Logger(label: "test"))
    guarded = try GuardedAPI(observation: Observation(audit: audit))
    bundle = try ZippedSample()
    try await guarded.attach(bundle, guarded.token(.admin).fields)
    browser = PageBrowser(guarded.api)
  }

  private func events() throws -> [[String: JSONValue]] {
    try String(contentsOf: folder.file("audit.log"), encoding: .utf8).split(separator: "\n").dropFirst().map {
      try SnapshotJSON.decode([String: JSONValue].self, from: Data($0.utf8))
    }
  }

  @Test func `pages are recorded in the same way as calls of the API`() async throws {
    let admin = try guarded.token(.admin)
    let other = try ZippedSample("{\"other\":1}")
    try await browser.signIn(admin.fields)
    let path = "/snapshots/\(bundle.id)"
    for page in ["/", "/reports/BUG-1", path, path + "/files/manifest.json", path + "/raw/manifest.json"] {
      #expect(try await browser.get(page).status == 200)
    }
    #expect(try await browser.get(path + "/bundle").status == 200)
    #expect(try await browser.get(path + "/diff?with=\(bundle.id)").status == 200)
    #expect(try await browser.get("/snapshots/\(other.id)").status == 404)
    let token = try await browser.formToken(in: path + "?show=details")
    for action in ["pin", "link", "delete"] {
      _ = try await browser.post("\(path)/\(action)", ["form-token": token])
    }
    try await browser.post("/sign-out", ["form-token": token])
    let events = try events()
    #expect(
      events.map { $0["action"] } == [
        "signIn", "listSnapshots", "listReport", "readSnapshot", "fetchFile", "fetchFile", "fetchBundle",
        "compareSnapshots", "readSnapshot", "readSnapshot", "changeSnapshot", "createLink", "deleteSnapshot",
        "signOut",
      ])
    #expect(events.allSatisfy { $0["token"] == .string(admin.id) })
    #expect(events[7]["comparedWith"] == .string("\(bundle.id)"))
    #expect(events[3...7].allSatisfy { $0["snapshot"] == .string("\(bundle.id)") && $0["report"] == "BUG-1" })
    #expect(events[8]["result"] == "refused")
    #expect(events[8]["problem"] == "no-such-snapshot")
  }

  @Test func `a refused visitor is recorded, without the entered text`() async throws {
    let secret = try #require(try guarded.token(.read).fields[.authorization]).dropFirst("Bearer ".count)
    try await browser.get("/snapshots/\(bundle.id)")
    try await browser.signIn("wrong")
    try await browser.signIn(String(secret.dropLast()) + (secret.last == "A" ? "E" : "A"))
    let events = try events()
    #expect(events.map { $0["action"] } == ["readSnapshot", "signIn"])
    #expect(events.map { $0["status"] } == [401, 401])
    #expect(events.map { $0["problem"] } == ["token-needed", "token-refused"])
    let text = try String(contentsOf: folder.file("audit.log"), encoding: .utf8)
    #expect(!text.contains("wrong"))
    #expect(!text.contains(secret.suffix(40)))
  }

  @Test func `a page that can't be recorded is not shown`() async throws {
    try await browser.signIn(guarded.token(.admin).fields)
    try Folder.remove(folder.file("audit.log").path)
    try Folder.create(folder.file("audit.log").path)
    let answer = try await browser.get("/snapshots/\(bundle.id)")
    #expect(answer.status == 503)
    #expect(answer.fields[.contentType] == "text/html; charset=utf-8")
    #expect(!answer.text.contains("com.example.news"))
  }
}
