import AccessControl
import Foundation
import HTTPEngine
import HTTPTypes
import Logging
import Observability
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotStore
import TestSupport
import Testing

@testable import SnapshotWeb

/// Deleting the results of a search on the pages.
@Suite struct DeletionPageTests {
  private let folder: TemporaryFolder
  private let guarded: GuardedAPI
  private let browser: PageBrowser

  init() throws {
    folder = try TemporaryFolder()
    let audit = try AuditLog(.together(folder.file("audit.log").path), logger: Logger(label: "test"))
    guarded = try GuardedAPI(observation: Observation(audit: audit))
    browser = PageBrowser(guarded.api)
  }

  /// Attaches snapshots to a report.
  private func attach(_ count: Int, to report: String = "BUG-1") async throws -> [SnapshotID] {
    let admin = try guarded.token(.admin).fields
    var ids: [SnapshotID] = []
    for number in 0..<count {
      let bundle = try ZippedSample("{\"n\":\"\(report) \(number)\"}")
      try await guarded.attach(bundle, report: report, admin)
      ids.append(bundle.id)
    }
    return ids
  }

  private func isThere(_ id: SnapshotID) async throws -> Bool {
    do { return try await guarded.api.store.record(id).id == id } catch StoreError.deleted { return false }
  }

  private func deletions() throws -> [[String: JSONValue]] {
    try String(contentsOf: folder.file("audit.log"), encoding: .utf8).split(separator: "\n").dropFirst().map {
      try SnapshotJSON.decode([String: JSONValue].self, from: Data($0.utf8))
    }.filter { $0["action"] == "deleteSnapshot" }
  }

  /// The value of a hidden field on a page.
  private func value(_ name: String, in page: String) throws -> String {
    let fields = try HTMLPage(Array(page.utf8)).all("input")
    return try #require(fields.first { $0.attributes["name"] == name }?.attributes["value"])
  }

  @Test func `exactly the snapshots that were shown are deleted, and each is audited`() async throws {
    let ids = try await attach(3)
    let others = try await attach(1, to: "BUG-2")
    try await browser.signIn(guarded.token(.read, .delete).fields)
    let results = try await browser.get("/?report=BUG-1").text
    #expect(
      results.contains("<a class=\"button\" href=\"/delete?report=BUG-1\">Delete these 3 snapshots…</a>"))
    #expect(!(try await browser.get("/").text.contains("/delete")))
    let preview = try await browser.get("/delete?report=BUG-1")
    #expect(preview.status == 200)
    #expect(
      preview.text.contains("Delete these 3 snapshots") && !preview.text.contains("The search finds more"))
    let shown = try value("snapshots", in: preview.text)
    #expect(Set(shown.split(separator: " ").map(String.init)) == Set(ids.map(\.description)))

    let late = try await attach(1, to: "BUG-1/a")
    let newer = try ZippedSample("{\"n\":\"newer\"}")
    try await guarded.attach(newer, guarded.token(.admin).fields)
    let token = try value("form-token", in: preview.text)
    let answer = try await browser.post(
      "/delete", ["form-token": token, "next": try value("next", in: preview.text), "snapshots": shown])
    #expect(answer.status == 303)
    #expect(answer.fields[.location] == "/?report=BUG-1&done=several-deleted")
    #expect(
      try await browser.get("/?report=BUG-1&done=several-deleted").text.contains(
        "The snapshots were deleted."))
    for id in ids { #expect(try await !isThere(id)) }
    for id in others + late + [newer.id] { #expect(try await isThere(id)) }
    let events = try deletions()
    #expect(Set(events.compactMap { $0["snapshot"] }) == Set(ids.map { .string("\($0)") }))
    #expect(
      events.filter { $0["snapshot"] != nil }.allSatisfy { $0["report"] == "BUG-1" && $0["result"] == "done" }
    )
    #expect(Set(events.map { $0["token"] }).count == 1)

    // What is deleted already needs no deletion.
    let again = try await browser.post("/delete", ["form-token": token, "snapshots": shown])
    #expect(again.fields[.location] == "/?done=several-deleted")
  }

  @Test func `a visitor deletes nothing beyond the limits of the token`() async throws {
    let ids = try await attach(1)
    let hidden = try await attach(1, to: "SECRET-1")
    try await browser.signIn(
      guarded.token(.read, .delete, limits: CallerLimits(reportPrefixes: ["BUG-"])).fields)
    let preview = try await browser.get("/delete?application=com.example.news").text
    #expect(try value("snapshots", in: preview) == "\(ids[0])")
    let answer = try await browser.post(
      "/delete",
      [
        "form-token": try value("form-token", in: preview),
        "snapshots": "\(hidden[0]) \(ids[0]) \(SnapshotID())",
      ])
    #expect(answer.status == 404)
    #expect(answer.text.contains("1 snapshot deleted, 2 not."), "\(answer.text)")
    #expect(try await isThere(hidden[0]))
    #expect(try await !isThere(ids[0]))
  }

  @Test func `a visitor without the scope sees and deletes nothing`() async throws {
    let ids = try await attach(1)
    try await browser.signIn(guarded.token(.read).fields)
    #expect(!(try await browser.get("/?report=BUG-1").text.contains("/delete")))
    #expect(try await browser.get("/delete?report=BUG-1").status == 403)
    let token = try await browser.formToken(in: "/snapshots/\(ids[0])")
    #expect(try await browser.post("/delete", ["form-token": token, "snapshots": "\(ids[0])"]).status == 403)
    #expect(try await isThere(ids[0]))
  }

  @Test func `a form without its token, or with anything but 1 to 500 UUIDs, deletes nothing`() async throws {
    let id = try await attach(1)[0]
    try await browser.signIn(guarded.token(.admin).fields)
    let token = try await browser.formToken(in: "/snapshots/\(id)")
    #expect(try await browser.post("/delete", ["form-token": "x", "snapshots": "\(id)"]).status == 403)
    #expect(
      try await browser.post("/delete", ["form-token": token, "snapshots": "\(id)"], site: "cross-site")
        .status == 403)
    let many = "\(id) " + DeletionPage.text(of: (0..<DeletionPage.maximum).map { _ in SnapshotID() })
    for snapshots in ["", " ", "\(id) x", "\(id),\(id)", many] {
      #expect(try await browser.post("/delete", ["form-token": token, "snapshots": snapshots]).status == 400)
    }
    for query in ["", "?text=+", "?after=yesterday"] {
      #expect(try await browser.get("/delete" + query).status == 400)
    }
    #expect(try await isThere(id))
    #expect(DeletionPage.ids(many)?.count == nil)
    #expect(DeletionPage.ids(String(many.dropFirst(37)))?.count == DeletionPage.maximum)
  }

  @Test func `a search that finds more than one form deletes says so`() async throws {
    var limits = ServiceLimits()
    limits.pageLength = 2
    let api = try GuardedAPI(limits: limits)
    let browser = PageBrowser(api.api)
    let admin = try api.token(.admin).fields
    for number in 0..<3 { try await api.attach(ZippedSample("{\"n\":\(number)}"), admin) }
    try await browser.signIn(admin)
    let page = try await browser.get("/delete?report=BUG-1").text
    #expect(page.contains("Delete these 2 snapshots") && page.contains("The search finds more"))
  }
}
