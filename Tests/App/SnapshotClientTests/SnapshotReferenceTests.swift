import Foundation
import SnapshotClient
import SnapshotFormat
import Testing

@Suite struct SnapshotReferenceTests {
  static let text = "3f2b6c1e-8d4a-4b5f-9c0d-1e2f3a4b5c6d"
  let id: SnapshotID

  init() throws { id = try #require(SnapshotID(Self.text)) }

  @Test(arguments: [
    text, text.uppercased(), "  \(text)\n", "\t\(text)\r\n", "3f2b6c1e-8d4a-4b5f- 9c0d-1e2f3a4b5c6d",
    "3f2b6c1e-8d4a-\n4b5f-9c0d-1e2f3a4b5c6d", "\u{FEFF}\(text)\u{200B}", "\u{2068}\(text)\u{2069}",
    "‘\(text)’", "“\(text)”.", "<\(text)>", "{\(text.uppercased())}", "`\(text)`,", "(\(text))",
    "3f2b6c1e\u{2011}8d4a\u{2013}4b5f\u{2010}9c0d\u{2212}1e2f3a4b5c6d", "3F2B6C1E8D4A4B5F9C0D1E2F3A4B5C6D",
    "urn:uuid:\(text)", "URN:UUID:\(text.uppercased())", "snapshots://activate/\(text)",
    "Snapshots://Activate/\(text.uppercased())/", "  <snapshots://activate/\(text)>",
    "snapshots://activate/\(text)?server", "\(text).zip", "\(text.uppercased()).ZIP",
  ])
  func `a UUID is found in any pasted form`(text: String) throws {
    #expect(try SnapshotReference(text) == SnapshotReference(id))
  }

  @Test(arguments: [
    ("https://example.org/v1/snapshots/\(text).zip", "https://example.org"),
    ("https://example.org/v1/snapshots/\(text)", "https://example.org"),
    ("https://example.org/v1/snapshots/\(text.uppercased()).ZIP", "https://example.org"),
    ("http://127.0.0.1:8080/v1/snapshots/\(text).zip?download=1#top", "http://127.0.0.1:8080"),
    ("HTTPS://example.org/a/b/v1/snapshots/\(text)/files/x.json", "https://example.org/a/b"),
    ("https://example.org/v1/reports/BUG%2F1/snapshots/\(text)", "https://example.org"),
    ("https://example.org/a/snapshots/\(text)", "https://example.org/a"),
    (
      "https://example.org/snapshots/\(text)/files/app-data/snapshots/00000000-0000-4000-8000-000000000000.zip?view=hex",
      "https://example.org"
    ),
    (
      "https://example.org/snapshots/\(text)/files/recordings/news%252ffeed?at=/items/3&find=a+b#hit",
      "https://example.org"
    ),
    (" <http://[::1]:80/snapshots/\(text)/>.", "http://[::1]:80"),
    ("snapshots://activate/\(text)?server=https://example.org/a", "https://example.org/a"),
    ("snapshots://activate/\(text)?server=https%3A%2F%2Fexample.org%3A1", "https://example.org:1"),
  ])
  func `an address contains the snapshot and its server`(text: String, server: String) throws {
    let reference = try SnapshotReference(text)
    #expect(reference.id == id)
    #expect(reference.server?.absoluteString == server)
  }

  @Test(arguments: [
    ("https://example.org/v1/snapshots/\(text).zip?expires=12&signature=a-_b", true),
    (" <https://example.org/v1/snapshots/\(text).zip?signature=a-_b&expires=12>.", true),
    ("https://example.org/v1/snapshots/\(text).zip?expires=12", false),
    ("https://example.org/v1/snapshots/\(text).zip?signature=a-_b", false),
    ("https://example.org/v1/snapshots/\(text).zip", false),
    ("snapshots://activate/\(text)?server=https://example.org&expires=12&signature=a-_b", false),
  ])
  func `a link is distinguished from an address, and its signature is not shown`(text: String, isLink: Bool)
    throws
  {
    let reference = try SnapshotReference(text)
    #expect(reference.id == id)
    #expect((reference.link != nil) == isLink)
    #expect(!"\(reference)".contains("a-_b"))
  }

  @Test(arguments: [
    "", " \n\u{200B}", "<>", "BUG-123", "3f2b6c1e-8d4a-4b5f-9c0d-1e2f3a4b5c6", "\(text)0",
    "g\(text.dropFirst())",
    "\(text) \(text)", "https://example.org/\(text)", "https://example.org/v1/snapshots/",
    "https:///snapshots/\(text)",
    "https://user@example.org/v1/snapshots/\(text)", "https://user:secret@example.org/v1/snapshots/\(text)",
    "ftp://example.org/v1/snapshots/\(text)", "javascript:\(text)", "snapshots://delete/\(text)",
    "snapshots://activate/\(text)/more", "snapshots://activate", "snapshots:\(text)",
    "snapshots://activate/\(text)?server=file:///etc", "snapshots://activate/\(text)?server=https://",
    "+f2b6c1e8d4a4b5f9c0d1e2f3a4b5c6d",
  ])
  func `any other text is rejected with a description`(text: String) {
    #expect {
      _ = try SnapshotReference(text)
    } throws: { error in
      error is SnapshotReference.Refusal && "\(error)".hasSuffix(".") && "\(error)".utf8.count < 400
    }
  }

  @Test func `a text is accepted up to its limit`() throws {
    let room = SnapshotReference.maximumLength - Self.text.utf8.count
    #expect(try SnapshotReference(String(repeating: " ", count: room) + Self.text).id == id)
    #expect(throws: SnapshotReference.Refusal.tooLong) {
      try SnapshotReference(String(repeating: " ", count: room + 1) + Self.text)
    }
    #expect(throws: SnapshotReference.Refusal.empty) { try SnapshotReference(" ") }
  }

  @Test(arguments: [
    ("http://localhost:8080", "http://127.0.0.1:8080", true),
    ("http://127.0.0.1:8080", "http://127.0.0.1:8081", false),
    ("https://Example.ORG", "https://example.org:443", true),
    ("http://example.org", "http://example.org:80/", true),
    ("http://example.org", "https://example.org", false),
    ("https://example.org/a", "https://example.org", false),
    ("https://example.org", "https://example.org.evil.example", false),
  ])
  func `a client recognizes its own server`(own: String, other: String, isSame: Bool) throws {
    let client = try SnapshotAPIClient(server: try #require(URL(string: own)))
    #expect(client.serves(SnapshotReference(id, server: URL(string: other))) == isSame)
    #expect(client.serves(SnapshotReference(id)))
  }
}
