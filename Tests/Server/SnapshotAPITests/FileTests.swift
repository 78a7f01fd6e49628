import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import ServerTesting
import SnapshotFormat
import SnapshotStore
import SystemIO
import TestSupport
import Testing
import ZipArchive

@testable import SnapshotAPI

/// Single files of a bundle.
@Suite struct FileTests {
  private let api: TestAPI
  private let bundle: ZippedSample
  private let feed = "{\"news\":[\(String(repeating: "{\"title\":\"negative balance\"},", count: 100))0]}"
  private var path: String { "/v1/snapshots/\(bundle.id)/files" }

  init() async throws {
    var limits = ServiceLimits()
    limits.inflatedAtOnce = 10_000
    limits.rangedFileBytes = 400_000
    limits.inflatedFileBytes = 500_000
    api = TestAPI(limits: limits)
    bundle = try ZippedSample(
      feed,
      extra: [
        "attachments/screen.png": "PNG", "attachments/page.html": "<script>alert(1)</script>",
        "attachments/größe <b>.TXT": "text", "attachments/long.json": Self.text(100_000),
        "attachments/longer.json": Self.text(400_001), "attachments/longest.json": Self.text(500_001),
        "app-data/Documents/a.sqlite": "db", "attachments/empty.log": "",
      ], level: 6)
    try await api.upload(bundle.bytes, .put, id: bundle.id)
  }

  /// Text of the given length that is compressible, but not uniform.
  private static func text(_ length: Int) -> String {
    var text = ""
    var number = 1
    while text.utf8.count < length {
      number = (number &* 48_271) % 2_147_483_647
      text += "\(number % 1000),"
    }
    return String(text.prefix(length))
  }

  private func file(
    _ name: String, _ method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:]
  ) async throws -> TestAPI.Answer {
    try await api.send(method, "\(path)/\(name)", fields)
  }

  /// Returns the output of `gunzip`, which verifies the bytes.
  private func unzipped(_ bytes: [UInt8]) async throws -> Data {
    let folder = try TemporaryFolder()
    let file = try folder.write(Data(bytes), to: "a.gz")
    let outcome = try await Tool.run("gzip", ["-dc", file.path])
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output
  }

  // MARK: As stored in the bundle

  @Test(arguments: [
    ("recordings/feed", nil as Int?), ("attachments/long.json", 100_000),
    ("attachments/longest.json", 500_001),
  ])
  func `a client that accepts gzip gets the bytes as stored in the bundle`(name: String, size: Int?)
    async throws
  {
    let answer = try await file(name, .get, [.acceptEncoding: "gzip, br"])
    #expect(answer.status == 200)
    #expect(answer.fields[.contentEncoding] == "gzip")
    #expect(answer.fields[.vary] == "Accept-Encoding")
    #expect(answer.fields[.acceptRanges] == nil)
    #expect(answer.fields[.eTag]?.hasSuffix("-gzip\"") == true)
    let expected = size.map(Self.text) ?? feed
    #expect(try await unzipped(answer.bytes) == Data(expected.utf8))
    #expect(answer.bytes.count < expected.utf8.count)
    #expect(bundle.bytes.contains(answer.bytes.dropFirst(10).dropLast(8)))
  }

  @Test func `an uncompressed file is sent unchanged to every client`() async throws {
    for coding in ["gzip", "identity"] {
      let answer = try await file("attachments/screen.png", .get, [.acceptEncoding: coding])
      #expect(answer.status == 200)
      #expect(answer.text == "PNG")
      #expect(answer.fields[.contentEncoding] == nil)
      #expect(answer.fields[.vary] == nil)
      #expect(answer.fields[.acceptRanges] == "bytes")
    }
    #expect(try await file("attachments/empty.log").bytes.isEmpty)
  }

  // MARK: Inflated

  @Test(arguments: [nil, "br", "gzip;q=0"] as [String?])
  func `a client that accepts no gzip gets the recorded bytes`(coding: String?) async throws {
    var fields: HTTPFields = [:]
    fields[.acceptEncoding] = coding
    #expect(try await file("recordings/feed", .get, fields).text == feed)
    for (name, size) in [("long", 100_000), ("longer", 400_001)] {
      let answer = try await file("attachments/\(name).json", .get, fields)
      #expect(answer.status == 200)
      #expect(answer.text == Self.text(size))
      #expect(answer.fields[.contentEncoding] == nil)
      #expect(answer.fields[.vary] == "Accept-Encoding")
      #expect(answer.fields[.eTag]?.hasSuffix("-gzip\"") == false)
      let head = try await file("attachments/\(name).json", .head, fields)
      // The server omits the body, and states its length.
      #expect(head.status == 200 && head.bytes.count == size)
    }
  }

  @Test(arguments: [("recordings/feed", nil as Int?), ("attachments/long.json", 100_000)])
  func `ranges refer to the recorded bytes, whichever coding is accepted`(
    name: String, size: Int?
  ) async throws {
    let expected = Array((size.map(Self.text) ?? feed).utf8)
    let tag = try #require(try await file(name).fields[.eTag])
    for fields in [[:], [.acceptEncoding: "gzip"], [.ifRange: tag]] as [HTTPFields] {
      var fields = fields
      fields[.range] = "bytes=1000-1099"
      let answer = try await file(name, .get, fields)
      #expect(answer.status == 206)
      #expect(answer.bytes == Array(expected[1000..<1100]))
      #expect(answer.fields[.contentRange] == "bytes 1000-1099/\(expected.count)")
      #expect(answer.fields[.contentEncoding] == nil)
      #expect(answer.fields[.eTag] == tag)
    }
    #expect(try await file(name, .get, [.range: "bytes=-5"]).bytes == Array(expected.suffix(5)))
    #expect(try await file(name, .get, [.range: "bytes=\(expected.count)-"]).status == 416)
    let other = try await file(name, .get, [.range: "bytes=1-2", .ifRange: "\"other\""])
    #expect(other.status == 200)
    #expect(other.bytes == expected)
  }

  @Test func `large files have no ranges, and very large ones are only sent compressed`()
    async throws
  {
    let longer = try await file("attachments/longer.json", .get, [.range: "bytes=400000-"])
    #expect(longer.status == 200)
    #expect(longer.fields[.acceptRanges] == nil)
    let longest = try await file("attachments/longest.json")
    #expect(longest.status == 406)
    #expect(longest.kind == "only-compressed")
    #expect(try await file("attachments/longest.json", .get, [.acceptEncoding: "gzip"]).status == 200)
  }

  @Test func `each file and each coding has its own entity tag`() async throws {
    var tags: Set<String> = []
    for name in ["recordings/feed", "attachments/long.json", "manifest.json"] {
      for coding in ["gzip", "identity"] {
        let tag = try #require(try await file(name, .get, [.acceptEncoding: coding]).fields[.eTag])
        #expect(tags.insert(tag).inserted)
        let again = try await file(name, .get, [.acceptEncoding: coding, .ifNoneMatch: tag])
        #expect(again.status == 304)
        #expect(again.fields[.eTag] == tag)
        #expect(again.fields[.vary] == "Accept-Encoding")
        #expect(try await file(name, .head, [.acceptEncoding: coding, .ifMatch: "\"x\""]).status == 412)
      }
    }
  }

  // MARK: Types

  @Test(arguments: [
    ("attachments/screen.png", "image/png", "inline"),
    ("attachments/long.json", "application/json", "inline"),
    ("attachments/page.html", "application/octet-stream", "attachment"),
    ("recordings/feed", "application/octet-stream", "attachment"),
    ("app-data/Documents/a.sqlite", "application/octet-stream", "attachment"),
    ("attachments/gr%C3%B6%C3%9Fe%20%3Cb%3E.TXT", "text/plain; charset=utf-8", "inline"),
  ])
  func `only types that browsers don't execute are shown inline`(
    name: String, type: String, disposition: String
  ) async throws {
    let answer = try await file(name)
    #expect(answer.status == 200)
    #expect(answer.fields[.contentType] == type)
    #expect(answer.fields[.contentDisposition]?.hasPrefix(disposition + "; filename=\"") == true)
    #expect(answer.fields[.xContentTypeOptions] == "nosniff")
    #expect(answer.fields[.contentSecurityPolicy] == "default-src 'none'; sandbox")
    #expect(answer.fields[.crossOriginResourcePolicy] == "same-origin")
    #expect(answer.fields[.cacheControl] == "private, no-cache")
  }

  @Test(arguments: [
    ("a.json", "application/json"), ("recordings/feed.json@3", "application/json"), ("A.JPEG", "image/jpeg"),
    ("a.svg", nil), ("a.html", nil), ("a.xhtml", nil), ("a.xml", nil), ("a.pdf", nil), ("a.js", nil),
    ("a.css", nil), (".json", nil), ("json", nil), ("a.json/b", nil), ("a.json.", nil), ("", nil),
    ("a.png ", nil), ("a.json\0", nil), ("/", nil),
  ])
  func `the extension decides the type`(path: String, type: String?) {
    let found = FileType(path: path)
    #expect(found.mediaType == type ?? "application/octet-stream")
    #expect(found.isShown == (type != nil))
  }

  // MARK: Recordings by identifier

  @Test(arguments: [
    ("news/Feed?page=2", "recordings/news%2FFeed%3Fpage%3D2"),
    ("news/Feed?page=2", "recordings/news/Feed%3Fpage=2"),
    ("größe", "recordings/gr%C3%B6%C3%9Fe"), ("a@2", "recordings/a%402"),
  ])
  func `a recording is found by its identifier, which is percent-encoded once`(
    identifier: String, place: String
  )
    async throws
  {
    let bundle = try await attach(identifier, as: RecordingName(identifier))
    let files = "/v1/snapshots/\(bundle.id)/files/"
    #expect(try await api.send(.get, files + place).text == "[1]")
    let exact = "recordings/" + PercentCoding.encode("\(RecordingName(identifier))")
    #expect(try await api.send(.get, files + exact).text == "[1]")
    let browser = PageBrowser(api)
    for page in ["files", "raw"] {
      #expect(try await browser.get("/snapshots/\(bundle.id)/\(page)/\(place)").status == 200)
    }
  }

  /// Attaches a bundle with the recording `[1]`.
  private func attach(_ identifier: String, as name: RecordingName) async throws -> ZippedSample {
    let path = "recordings/\(name)"
    let bundle = try ZippedSample("{}", extra: [path: "[1]"]) { manifest in
      var recording = manifest.recordings[0]
      (recording.identifier, recording.path) = (identifier, path)
      (recording.size, recording.sha256) = (3, .of(Array("[1]".utf8)))
      manifest.recordings.append(recording)
    }
    let answer = try await api.upload(bundle.bytes, .put, id: bundle.id)
    try #require(answer.status == 201, "\(answer.text)")
    return bundle
  }

  @Test func `a call of a recording is found by its identifier and number`() async throws {
    let bundle = try await attach("news/feed", as: RecordingName(RecordingName("news/feed"), call: 2))
    let files = "/v1/snapshots/\(bundle.id)/files/recordings/"
    #expect(try await api.send(.get, files + "news%2Ffeed@2").text == "[1]")
    for other in ["news%2Ffeed@1", "news%2Ffeed", "news%2Ffeed@02x"] {
      #expect(try await api.send(.get, files + other).kind == "no-such-file")
    }
  }

  // MARK: Missing files

  @Test(arguments: [
    "x", "recordings", "recordings/", "recordings/feed/", "recordings%2Ffeed", "recordings/Feed", "//feed",
    "RECORDINGS/feed", "recordings/feed%20", "",
  ])
  func `a name that the bundle does not have is a 404`(name: String) async throws {
    for method in [HTTPRequest.Method.get, .head] {
      let answer = try await file(name, method, [.acceptEncoding: "gzip"])
      #expect(answer.status == 404)
      #expect(answer.kind == "no-such-file")
    }
  }

  @Test(arguments: [
    "..", "../secret", "recordings/../manifest.json", "%2e%2e/a", "a%00", "%ff", "a%0D%0AX: y", ".",
  ])
  func `a path that leads elsewhere is a 400`(name: String) async throws {
    #expect(try await file(name).status == 400)
  }

  @Test func `a file is found by the other Unicode form of its name`() async throws {
    for name in ["größe <b>.TXT", "gro\u{308}ße <b>.TXT"] {
      let answer = try await file("attachments/" + PercentCoding.encode(name))
      #expect(answer.status == 200)
      #expect(answer.text == "text")
    }
    #expect(try await file("attachments/" + PercentCoding.encode("grosse <b>.TXT")).status == 404)
  }

  @Test func `unknown, deleted and damaged snapshots have no files`() async throws {
    for suffix in ["", "/manifest.json"] {
      let unknown = try await api.send(.get, "/v1/snapshots/\(SnapshotID())/files\(suffix)")
      #expect(unknown.kind == "no-such-snapshot")
      #expect(try await api.send(.get, "/v1/snapshots/x/files\(suffix)").status == 400)
    }
    try await api.store.setAside(bundle.id)
    #expect(try await file("manifest.json").kind == "snapshot-damaged")
    #expect(try await api.send(.get, path).kind == "snapshot-damaged")
    try await api.store.delete(bundle.id)
    #expect(try await file("manifest.json").kind == "snapshot-deleted")
  }

  @Test func `a file with changed bytes is not sent as the recorded one`() async throws {
    let stored = try await api.store.open(bundle.id)
    for name in ["recordings/feed", "attachments/long.json"] {
      let entry = try #require(try ZipDirectory(stored.file).entry(named: name))
      let place = entry.dataOffset + entry.compressedSize / 2
      try stored.file.write(try stored.file.read(upTo: 1, at: place).map { $0 ^ 0x21 }, at: place)
    }
    #expect(try await file("recordings/feed").kind == "snapshot-damaged")
    // A response that has already begun is aborted.
    await #expect(throws: (any Error).self) { try await file("attachments/long.json") }
  }

  @Test func `a bundle with an encrypted file is refused, and an existing one is listed but not sent`()
    async throws
  {
    let locked = try ZippedSample(extra: ["attachments/locked": "secret"])
    var bytes = locked.bytes
    let name = Array("attachments/locked".utf8)
    let places = bytes.indices.dropLast(name.count).filter { bytes[$0...].starts(with: name) }
    // The flags in the local header, and those in the directory.
    let flags = [places[0] - 30 + 6, places[1] - 46 + 8]
    for place in flags { bytes[place] |= 1 }
    let digest: HTTPFields = [.reprDigest: ZippedSample.digestField(bytes)]
    let refused = try await api.upload(bytes, .put, id: locked.id, fields: digest)
    #expect(refused.status == 422)
    let detail = try #require(refused.problem?.detail)
    #expect(detail.contains("attachments/locked") && detail.contains("is encrypted"), "\(detail)")

    #expect(try await api.upload(locked.bytes, .put, id: locked.id).status == 201)
    let stored = try await api.store.open(locked.id)
    for place in flags { try stored.file.write([bytes[place]], at: Int64(place)) }
    let path = "/v1/snapshots/\(locked.id)/files"
    #expect(try await api.send(.get, path).text.contains("attachments/locked"))
    let answer = try await api.send(.get, path + "/attachments/locked", [.acceptEncoding: "gzip"])
    #expect(answer.status == 422)
    #expect(answer.kind == "unreadable-file")
  }

  // MARK: The list

  @Test func `the list has the name and path of every file`() async throws {
    let answer = try await api.send(.get, path)
    #expect(answer.status == 200)
    let page = try answer.decode(JSONValue.self)
    #expect(page["next"] == nil)
    let files = try #require(page["files"]?.items)
    #expect(files.count == 10)
    for file in files {
      let href = try #require(file["href"]?.text)
      let one = try await api.send(.get, href, [.acceptEncoding: "gzip"])
      #expect(one.status == 200)
      #expect(file["type"]?.text == one.fields[.contentType])
      #expect(file.keys == ["compressedSize", "href", "path", "size", "type"])
    }
    let tag = try #require(answer.fields[.eTag])
    #expect(try await api.send(.get, path, [.ifNoneMatch: tag]).status == 304)
  }

  @Test func `the pages list every file once`() async throws {
    var paths: [String] = []
    var query: String? = "limit=3"
    while let current = query {
      let answer = try await api.send(.get, path, query: current)
      let page = try answer.decode(JSONValue.self)
      paths += page["files"]?.items?.compactMap { $0["path"]?.text } ?? []
      query = page["next"]?.text.map { "limit=3&cursor=\($0)" }
      #expect(answer.fields[.link] == query.map { "<\(path)?\($0)>; rel=\"next\"" })
    }
    #expect(paths.count == 10)
    #expect(Set(paths).count == 10)
    #expect(try await api.send(.get, path, query: "cursor=10").text == #"{"files":[]}"#)
  }

  @Test(arguments: [
    "limit=0", "limit=1001", "limit=x", "cursor=0", "cursor=-1", "cursor=x", "cursor=01", "limit=1&limit=2",
    "prefix=a", "cursor=99999999999999999999",
  ])
  func `an invalid parameter is refused`(query: String) async throws {
    #expect(try await api.send(.get, path, query: query).status == 400)
  }
}
