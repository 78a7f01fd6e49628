import HTTPEngine
import HTTPSemantics
import HTTPTypes
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import Testing

@Suite(.everyStore) struct FormTests {
  private let bundle: ZippedSample
  private let api = TestAPI()

  init() throws { bundle = try ZippedSample() }

  private func file(_ name: String = "snapshot", _ fields: String = "") -> String {
    "Content-Disposition: form-data; name=\"\(name)\"; filename=\"a.zip\"\r\nContent-Type: application/zip\(fields)"
  }

  private func field(_ name: String, _ value: String) -> (head: String, data: [UInt8]) {
    (head: "Content-Disposition: form-data; name=\"\(name)\"", data: Array(value.utf8))
  }

  private func expectRefused(
    _ parts: [(head: String, data: [UInt8])], _ status: Int, _ kind: Substring, _ fields: HTTPFields = [:]
  ) async throws {
    let answer = try await api.uploadForm(parts, fields)
    #expect(answer.status == status)
    #expect(answer.kind == kind)
    #expect(api.store.ends == .init(begun: 1, committed: 0, discarded: 1))
  }

  @Test(arguments: [1, 13, 100, 100_000]) func `a form's other parts become metadata`(pieceSize: Int)
    async throws
  {
    let answer = try await api.uploadForm(
      [
        field("title", "It crashes"), (head: file(), data: bundle.bytes), field("empty", ""),
        field("ü", "größer\r\n"),
      ],
      pieceSize: pieceSize)
    #expect(answer.status == 201)
    let record = try answer.decode(SnapshotRecord.self)
    #expect(record.sha256 == bundle.sha256)
    #expect(record.metadata == ["title": "It crashes", "empty": "", "ü": "größer\r\n"])
    #expect(record.verified == .intact)
  }

  @Test func `a form can also be sent with PUT`() async throws {
    let answer = try await api.send(
      .put, "/v1/reports/BUG-1/snapshots/\(bundle.id)", [.contentType: "multipart/form-data; boundary=XX"],
      body: .pieces(of: TestAPI.form([(head: file(), data: bundle.bytes)])))
    #expect(answer.status == 201)
    #expect(answer.fields[.location] == "/v1/snapshots/\(bundle.id)")
  }

  @Test func `the digest of the part is verified`() async throws {
    let right = "\r\nContent-Digest: \(bundle.digestField)"
    let answer = try await api.uploadForm([(head: file("snapshot", right), data: bundle.bytes)])
    #expect(try answer.decode(SnapshotRecord.self).verified == .pending)
  }

  @Test func `a part with a wrong digest is a 400`() async throws {
    let wrong = "\r\nContent-Digest: \(ZippedSample.digestField([]))"
    try await expectRefused([(head: file("snapshot", wrong), data: bundle.bytes)], 400, "digest-mismatch")
  }

  @Test func `a part with a malformed digest is a 400`() async throws {
    let malformed = "\r\nContent-Digest: sha-256=x"
    try await expectRefused([(head: file("snapshot", malformed), data: bundle.bytes)], 400, "bad-request")
  }

  @Test(arguments: [HTTPField.Name.contentDigest, .reprDigest])
  func `the request's digest covers the whole form`(name: HTTPField.Name) async throws {
    let parts = [field("title", "x"), (head: file(), data: bundle.bytes)]
    let digest = ZippedSample.digestField(TestAPI.form(parts))
    #expect(try await api.uploadForm(parts, [name: digest]).status == 201)
    let answer = try await api.uploadForm(parts, [name: bundle.digestField])
    #expect(answer.status == 400)
    #expect(answer.kind == "digest-mismatch")
    #expect(api.store.ends == .init(begun: 2, committed: 1, discarded: 1))
  }

  @Test func `a form without a bundle is a 400`() async throws {
    try await expectRefused([field("title", "x")], 400, "malformed-form")
  }

  @Test func `a form with two bundles is a 400`() async throws {
    let part = (head: file(), data: bundle.bytes)
    try await expectRefused([part, part], 400, "malformed-form")
  }

  @Test func `a duplicate field is a 400`() async throws {
    try await expectRefused(
      [field("a", "1"), (head: file(), data: bundle.bytes), field("a", "2")], 400, "malformed-form")
  }

  @Test(arguments: [[0xFF], [0x61, 0x00]] as [[UInt8]]) func `a field that is not text is a 400`(
    value: [UInt8]
  ) async throws {
    let part = (head: "Content-Disposition: form-data; name=a", data: value)
    try await expectRefused([part, (head: file(), data: bundle.bytes)], 400, "malformed-form")
  }

  @Test func `a part with an empty file name is the bundle`() async throws {
    let head = "Content-Disposition: form-data; name=\"snapshot\"; filename=\"\""
    #expect(try await api.uploadForm([(head: head, data: bundle.bytes)]).status == 201)
  }

  @Test func `a form in which no bundle was chosen is refused by the part's name`() async throws {
    for name in ["; filename=\"\"", "; filename=\"a.zip\"", ""] {
      let api = TestAPI()
      let head =
        "Content-Disposition: form-data; name=\"snapshot\"\(name)\r\nContent-Type: application/octet-stream"
      let answer = try await api.uploadForm([(head: head, data: []), field("title", "x")])
      #expect(answer.status == 400)
      #expect(answer.kind == "malformed-form")
      #expect(answer.problem?.detail.contains("‘snapshot’ of the form is empty") == true)
      #expect(api.store.ends == .init(begun: 1, committed: 0, discarded: 1))
    }
  }

  @Test func `a file that was not chosen is no metadata`() async throws {
    let unchosen = "Content-Disposition: form-data; name=\"screenshot\"; filename=\"\""
    let named = "Content-Disposition: form-data; name=\"log\"; filename=\"\""
    let answer = try await api.uploadForm([
      (head: unchosen, data: []), (head: named, data: Array("text".utf8)), field("empty", ""),
      (head: file(), data: bundle.bytes),
    ])
    #expect(answer.status == 201)
    #expect(try answer.decode(SnapshotRecord.self).metadata == ["log": "text", "empty": ""])
  }

  @Test(arguments: [
    "Content-Transfer-Encoding: base64", "content-transfer-encoding: Quoted-Printable",
    "Content-Encoding: gzip",
  ])
  func `an encoded part is refused by its name`(line: String) async throws {
    for name in ["snapshot", "note"] {
      let api = TestAPI()
      let parts = [
        (head: file() + (name == "snapshot" ? "\r\n" + line : ""), data: bundle.bytes),
        (head: field("note", "").head + (name == "note" ? "\r\n" + line : ""), data: Array("eA==".utf8)),
      ]
      let answer = try await api.uploadForm(parts)
      #expect(answer.status == 400)
      #expect(answer.kind == "malformed-form")
      let detail = answer.problem?.detail ?? ""
      #expect(detail.contains("‘\(name)’") && detail.contains("ncoding is"), "\(detail)")
    }
  }

  @Test(arguments: ["7bit", "8bit", "BINARY"]) func `a part that is not encoded may say so`(coding: String)
    async throws
  {
    let line = "\r\nContent-Transfer-Encoding: \(coding)"
    let answer = try await api.uploadForm([
      (head: file() + line, data: bundle.bytes), (head: field("note", "").head + line, data: Array("x".utf8)),
    ])
    #expect(answer.status == 201)
    #expect(try answer.decode(SnapshotRecord.self).metadata == ["note": "x"])
  }

  @Test func `a truncated form is a 400`() async throws {
    let bytes = Array(TestAPI.form([(head: file(), data: bundle.bytes)]).dropLast(10))
    let answer = try await api.send(
      .post, "/v1/reports/BUG-1/snapshots", [.contentType: "multipart/form-data; boundary=XX"],
      body: .pieces(of: bytes))
    #expect(answer.status == 400)
    #expect(answer.kind == "malformed-form")
    #expect(api.store.ends == .init(begun: 1, committed: 0, discarded: 1))
  }

  @Test func `a form without a boundary is a 400`() async throws {
    let answer = try await api.send(
      .post, "/v1/reports/BUG-1/snapshots", [.contentType: "multipart/form-data"],
      body: .pieces(of: bundle.bytes))
    #expect(answer.status == 400)
    #expect(api.store.ends.discarded == api.store.ends.begun)
  }

  @Test func `a form with an invalid bundle is a 422`() async throws {
    try await expectRefused([(head: file(), data: Array("hello".utf8))], 422, "invalid-bundle")
  }

  @Test func `every limit of a form is exact`() async throws {
    var limits = ServiceLimits()
    limits.metadataFields = 3
    limits.metadataNameBytes = 4
    limits.metadataValueBytes = 10
    limits.bundleBytes = Int64(bundle.bytes.count)
    let part = (head: file(), data: bundle.bytes)
    func fields(_ count: Int) -> [(head: String, data: [UInt8])] { (0..<count).map { field("n\($0)", "x") } }
    let longer = try ZippedSample(
      "x", extra: ["attachments/a": String(repeating: "x", count: bundle.bytes.count)])
    let table: [([(head: String, data: [UInt8])], Int)] = [
      (fields(2) + [part], 201), (fields(3) + [part], 201), (fields(4) + [part], 413),
      ([part] + fields(3), 201),
      ([part] + fields(4), 413),
      ([field("abc", "x"), part], 201), ([field("abcd", "x"), part], 201),
      ([field("abcde", "x"), part], 413),
      ([field("a", "123456789"), part], 201), ([field("a", "1234567890"), part], 201),
      ([field("a", "12345678901"), part], 413),
      ([(head: file(), data: longer.bytes)], 413),
    ]
    for (parts, status) in table {
      for isChunked in [true, false] {
        let api = TestAPI(limits: limits)
        let answer = try await api.uploadForm(parts, isChunked: isChunked)
        #expect(answer.status == status, "\(parts.map(\.head))")
        #expect(api.store.ends.discarded + api.store.ends.committed == api.store.ends.begun)
      }
    }
  }

  @Test(arguments: [(-1, 413), (0, 201), (1, 201)])
  func `the head of a part has a limit`(limit: (room: Int, status: Int)) async throws {
    var limits = ServiceLimits()
    // The line end of the head's last line and the empty line are part of it.
    limits.formHeadBytes = file().utf8.count + 4 + limit.room
    let answer = try await TestAPI(limits: limits).uploadForm([(head: file(), data: bundle.bytes)])
    #expect(answer.status == limit.status)
    #expect(answer.kind == (limit.status == 413 ? "form-too-large" : nil))
  }

  @Test func `a form with a declared length above all limits together is refused before its body`()
    async throws
  {
    var limits = ServiceLimits()
    limits.bundleBytes = 10
    limits.metadataFields = 1
    limits.metadataValueBytes = 10
    limits.noteBytes = 10
    limits.formHeadBytes = 500
    let api = TestAPI(limits: limits)
    let answer = try await api.uploadForm([(head: file(), data: [UInt8](repeating: 0, count: 10_000))])
    #expect(answer.status == 413)
    #expect(api.store.ends.begun == 0)
  }

  @Test(arguments: [-1, 0, 1]) func `a note may be longer than other fields, up to its limit`(excess: Int)
    async throws
  {
    let note = String(repeating: "n", count: ServiceLimits().noteBytes + excess)
    let answer = try await api.uploadForm([(head: file(), data: bundle.bytes), field("note", note)])
    #expect(answer.status == (excess <= 0 ? 201 : 413))
    if excess <= 0 { #expect(try answer.decode(SnapshotRecord.self).metadata == ["note": note]) }
  }
}
