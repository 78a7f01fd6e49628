import Foundation
import SnapshotFormat
import Testing

@Suite struct TimeSpanTests {
  @Test(
    arguments: [
      ("1s", 1, "1s"), ("90s", 90, "90s"), ("60s", 60, "1m"), ("12h", 43_200, "12h"), ("24h", 86_400, "1d"),
      ("30d", 2_592_000, "30d"), ("2w", 1_209_600, "14d"), ("36500d", 3_153_600_000, "36500d"),
    ] as [(String, Int64, String)])
  func `a number and a unit are parsed, and formatted in the largest unit`(
    text: String, seconds: Int64, told: String
  ) {
    #expect(TimeSpan(text)?.seconds == seconds)
    #expect(TimeSpan(text)?.description == told)
    #expect(TimeSpan(told) == TimeSpan(text))
  }

  @Test(arguments: [
    "", "d", "0s", "-1d", "+1d", "1", "1 d", " 1d", "1D", "1.5d", "1y", "36501d", "99999999999999999999d",
    "9223372036854775807w", "３d", "1dd",
  ])
  func `anything else is rejected`(text: String) {
    #expect(TimeSpan(text) == nil)
  }

  @Test func `an expiry is never, a time, or a duration`() throws {
    let now = Date(timeIntervalSince1970: 1_800_000_000.4567)
    #expect(SnapshotEnd("never") == .never)
    #expect(try #require(SnapshotEnd("never")).time(from: now) == nil)
    let after = try #require(SnapshotEnd("1h"))
    #expect(
      after.time(from: now) == SnapshotJSON.milliseconds(of: Date(timeIntervalSince1970: 1_800_003_600.4567)))
    let at = try #require(SnapshotEnd("2027-03-01T01:00:00+01:00"))
    #expect(at.time(from: now) == Date(timeIntervalSince1970: 1_803_859_200))
    #expect(at.description == "2027-03-01T00:00:00.000Z")
    for end in [after, at, .never] { #expect(SnapshotEnd(end.description) == end) }
    for text in ["", "Never", "2027-03-01", "2027-02-30T00:00:00Z", "soon", "1"] {
      #expect(SnapshotEnd(text) == nil)
    }
  }

  @Test func `a record contains the keys for pinning and expiry only if they are set`() throws {
    let id = SnapshotID()
    let manifest = Manifest(
      id: id, createdAt: Date(timeIntervalSince1970: 0),
      application: .init(identifier: "com.example.news", version: "3.1.4", build: "15"),
      device: .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.1", locale: "de_AT"))
    var record = SnapshotRecord(
      id: id, report: try ReportID(validating: "B"), size: 1, sha256: .of([1]),
      receivedAt: Date(timeIntervalSince1970: 0),
      verified: .intact, manifest: manifest)
    func text() throws -> String { String(decoding: try SnapshotJSON.encode(record), as: UTF8.self) }
    #expect(try !text().contains("pinned") && !text().contains("expiresAt"))
    record.isPinned = true
    record.expiresAt = Date(timeIntervalSince1970: 1)
    #expect(try text().contains(#""pinned":true"#))
    #expect(try SnapshotJSON.decode(SnapshotRecord.self, from: Data(text().utf8)) == record)
    record.isPinned = false
    #expect(try !text().contains("pinned"))
  }
}
