import SnapshotFormat
import SnapshotStore
import StoreTesting
import Testing

/// Why a search found a record.
@Suite struct SearchEvidenceTests {
  private let record: SnapshotRecord

  init() throws {
    record = try StoreTesting.record(
      report: "BUG-123", id: #require(SnapshotID("1f0c3a5b-7d9e-4a11-8b22-0123456789ab")),
      identifiers: ["news/feed", "account/balance"]
    ) {
      $0.metadata = ["note": "After a refund\nthe BÁLANCE was negative, 残高がマイナス", "reporter": "Mira"]
      $0.device.model = "iPhone14,5"
    }
  }

  /// The evidence as lines, with the matches in brackets.
  private func evidence(_ text: String, _ record: SnapshotRecord? = nil, bytes: Int = .max) -> [String] {
    var finder = EvidenceFinder(text, bytes: bytes)
    return finder.evidence(in: record ?? self.record).map { evidence in
      "\(evidence.place) " + evidence.pieces.map { $0.isMatch ? "[\($0.text)]" : $0.text }.joined()
    }
  }

  @Test(arguments: [
    ("balan", ["note After a refund the [BÁLAN]CE was negative, 残高がマイナス"]),
    ("refund NEGATIVE", ["note After a [refund] the BÁLANCE was [negative], 残高がマイナス"]),
    ("残高が", ["note …und the BÁLANCE was negative, [残高][が]マイナス"]),
    ("高", ["note …nd the BÁLANCE was negative, 残[高]がマイナス"]),
    ("BUG-12", ["report [BUG]-[12]3"]),
    ("Mir", ["field reporter: [Mir]a"]), ("report", ["field [report]er: Mira"]),
    ("iPhone14", ["device [iPhone14],5"]), ("account/b", ["identifier [account]/balance"]),
    ("news", ["identifier [news]/feed"]), ("io", ["system [iO]S"]),
    ("exam", ["application com.[exam]ple.news"]),
    ("1F0C", ["id [1f0c]3a5b-7d9e-4a11-8b22-0123456789ab"]),
    ("1f0c3a5b7d", ["id [1f0c3a5b-7d]9e-4a11-8b22-0123456789ab"]),
    (
      "1f0c refund iphone14 mira",
      [
        "id [1f0c]3a5b-7d9e-4a11-8b22-0123456789ab",
        "note After a [refund] the BÁLANCE was negative, 残高がマイナス", "field reporter: [Mira]",
      ]
    ),
    ("nothing", []), ("", []), ("1f0", []),
  ])
  func `the place and the text around a match are shown, at most three places`(text: String, lines: [String])
  {
    #expect(evidence(text) == lines)
  }

  @Test func `the UUID of the manifest is shown if it was searched for`() {
    var record = record
    record.manifestID = SnapshotID("e7d0beef-0000-4000-8000-000000000001")
    #expect(evidence("e7d0", record) == ["manifestID [e7d0]beef-0000-4000-8000-000000000001"])
  }

  @Test func `a long text is cut around the first match`() {
    var record = record
    record.metadata = [
      "note": String(repeating: "a ", count: 100) + "here" + String(repeating: " b", count: 100)
    ]
    let a = String(repeating: "a ", count: 15)
    let b = String(repeating: " b", count: 28)
    #expect(evidence("her", record) == ["note …\(a)[her]e\(b)…"])
  }

  @Test func `after too many bytes nothing more is read`() {
    #expect(evidence("balance", bytes: 0) == [])
    #expect(evidence("balance", bytes: 1).count == 1)
    #expect(evidence("account", bytes: 1) == [])
  }

  @Test(arguments: [
    ([["a"], ["b"]], ["a", "b"], 2, 2), ([["a"], ["b", "c"], []], ["a", "b"], 2, 3), ([], ["a"], 0, 0),
    ([["x"]], [], 0, 1),
  ])
  func `a module is complete if all of its identifiers were recorded`(
    modules: [[String]], identifiers: [String], complete: Int, total: Int
  ) {
    var record = record
    record.modules = modules.map { Module(name: "module", files: $0) }
    record.identifiers = identifiers
    #expect(record.completeness == .init(complete: complete, total: total))
    record.identifiers = nil
    #expect(record.completeness == nil)
  }

  @Test(arguments: [999, 1000, 1001])
  func `whether a module is complete is not known if the record has no room for more identifiers`(count: Int)
  {
    var record = record
    record.modules = [Module(name: "module", files: ["missing"])]
    record.identifiers = (0..<count).map { "\($0)" }
    #expect(record.completeness == (count < 1000 ? .init(complete: 0, total: 1) : nil))
    let size = SnapshotRecord.IdentifierLimits().bytes - "missing".utf8.count
    record.identifiers = [String(repeating: "x", count: size)]
    #expect(record.completeness == .init(complete: 0, total: 1))
    record.identifiers = [String(repeating: "x", count: size + 1)]
    #expect(record.completeness == nil)
  }
}
