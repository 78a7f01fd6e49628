import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import ServerTesting
import SnapshotFormat
import Testing

/// The user's words in a bundle's manifest, and what becomes of them.
@Suite struct NoteTests {
  private let api = TestAPI()
  private let bundle: ZippedSample
  private let expected = ["note": "The balance\n<b>was negative</b>", "severity": "high"]

  init() throws {
    bundle = try ZippedSample {
      $0.note = "The balance\n<b>was negative</b>"
      $0.fields = ["severity": "high"]
    }
  }

  private struct List: Decodable {
    var snapshots: [SnapshotRecord]
  }

  private func stored() async throws -> SnapshotRecord {
    try await api.send(.get, "/v1/snapshots/\(bundle.id)").decode(SnapshotRecord.self)
  }

  @Test func `a plain upload has the manifest's note and fields as metadata`() async throws {
    let answer = try await api.upload(bundle.bytes)
    #expect(try answer.decode(SnapshotRecord.self).metadata == expected)
    #expect(try await stored().metadata == expected)
  }

  @Test func `resumable uploads have them too`() async throws {
    let fields: HTTPFields = [.uploadDraftInteropVersion: "8", .uploadComplete: "?1"]
    #expect(
      try await api.upload(bundle.bytes, fields: fields).decode(SnapshotRecord.self).metadata == expected)
    #expect(try await api.send(.delete, "/v1/snapshots/\(bundle.id)").status == 204)
    let path = try await api.open(bundle.bytes.count, [("report", "BUG-2"), ("severity", "low")])
    try await api.patch(path, at: 0, bundle.bytes)
    let list = try await api.send(.get, "/v1/reports/BUG-2/snapshots").decode(List.self)
    var changed = expected
    changed["severity"] = "low"
    #expect(list.snapshots.map(\.metadata) == [changed])
  }

  @Test func `a field of the form replaces one of the manifest`() async throws {
    let answer = try await api.uploadForm([
      (head: "Content-Disposition: form-data; name=note", data: Array("Another".utf8)),
      (head: "Content-Disposition: form-data; name=snapshot", data: bundle.bytes),
    ])
    #expect(try answer.decode(SnapshotRecord.self).metadata == ["note": "Another", "severity": "high"])
  }

  @Test func `a search finds the words of a note, and the fields beside a note of any length`() async throws {
    let words = (0..<6000).map { String($0, radix: 36) }.joined(separator: " ")
    let long = try ZippedSample {
      $0.note = String(words.prefix(32 << 10))
      $0.fields = ["zone": "backstage"]
    }
    for bundle in [bundle, long] { #expect(try await api.upload(bundle.bytes).status == 201) }
    func found(_ text: String) async throws -> [SnapshotID] {
      try await api.send(.get, "/v1/snapshots", query: "text=\(text)").decode(List.self).snapshots.map(\.id)
    }
    #expect(try await found("negative+balance") == [bundle.id])
    #expect(try await found("backstage") == [long.id])
    #expect(try await found(String(100, radix: 36)) == [long.id])
  }

  @Test func `the pages show a note as text, first, and its beginning in lists`() async throws {
    #expect(try await api.upload(bundle.bytes).status == 201)
    let browser = PageBrowser(api)
    let page = try await browser.get("/snapshots/\(bundle.id)?show=details").text
    let note = try #require(page.range(of: "<q>The balance &lt;b&gt;was negative&lt;/b&gt;</q>"))
    let list = try #require(page.range(of: "class=\"work-list\""))
    #expect(note.lowerBound < list.lowerBound)
    #expect(page.contains("The balance<br>&lt;b&gt;was negative&lt;/b&gt;"))
    #expect(!page.contains("<b>was"))
    #expect(try await browser.get("/").text.contains("“<bdi>The balance</bdi>”"))
    #expect(try await browser.get("/reports/BUG-1").text.contains("“<bdi>The balance</bdi>”"))
  }

  @Test func `a note of any kind leaves a page within its limit`() async throws {
    for note in [
      String(repeating: "<&\"'", count: 8 << 10), String(repeating: "\n", count: 32 << 10), "\u{1b}\u{202e}x",
    ] {
      let bundle = try ZippedSample { $0.note = note }
      #expect(try await api.upload(bundle.bytes).status == 201)
      let browser = PageBrowser(api)
      let page = try await browser.get("/snapshots/\(bundle.id)")
      #expect(page.status == 200)
      #expect(page.text.utf8.count < 60_000)
      #expect(!page.text.unicodeScalars.contains("\u{202e}"))
    }
  }
}
