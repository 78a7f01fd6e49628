import Foundation
import SnapshotFormat
import Testing

@Suite struct SnapshotRecordJSONTests {
  private static let awkward = "\u{0}\u{1F}\"\\/\u{7F}\u{2028}é😀 ‘x’\n\t"

  private static func record(_ change: (inout SnapshotRecord) -> Void = { _ in }) throws -> SnapshotRecord {
    let id = SnapshotID()
    var record = SnapshotRecord(
      id: id, report: try ReportID(validating: "BUG-1"), size: 12_345, sha256: .of([1, 2]),
      receivedAt: Date(timeIntervalSince1970: 1_800_000_000.123), verified: .intact,
      manifest: Manifest(
        id: id, createdAt: Date(timeIntervalSince1970: 1_799_999_999.5),
        application: .init(identifier: "com.example.news", version: "3.1.4", build: "271"),
        device: .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.1", locale: "de_AT"),
        modules: [Module(name: "News", files: ["news/feed"]), Module(name: "Empty", files: [])]),
      metadata: ["note": "it broke"])
    change(&record)
    return record
  }

  private static func comments(at seconds: TimeInterval) -> [SnapshotComment] {
    [
      SnapshotComment(
        "It \"broke\"\nagain 😀", writtenAt: Date(timeIntervalSince1970: seconds), author: "Mira", token: "a1"),
      SnapshotComment("  Fixed ", writtenAt: Date(timeIntervalSince1970: seconds + 0.0004)),
    ].compactMap { $0 }
  }

  private static let changes: [@Sendable (inout SnapshotRecord) -> Void] = [
    { _ in },
    { $0.identifiers = nil },
    { $0.identifiers = ["a", awkward, String(repeating: "long/", count: 20_000)] },
    { $0.metadata = [:] },
    { $0.metadata = ["": "", awkward: awkward, "id": "no id", "metadata": "{}"] },
    { $0.modules = [Module(name: awkward, files: [awkward, ""])] },
    { $0.attachedBy = awkward },
    { $0.expiresAt = Date(timeIntervalSince1970: -1.5) },
    { $0.isPinned = true },
    { $0.revision = 12 },
    { $0.comments = [1.5, 2].flatMap(comments) },
    { $0.verified = .damaged },
    { $0.size = .max },
    { $0.recordingCount = 100_000 },
    { $0.application.version = awkward },
    { $0.device.locale = "" },
    { $0.receivedAt = SnapshotJSON.milliseconds(of: .distantFuture) },
  ]

  @Test(arguments: SnapshotRecordJSONTests.changes.indices, [true, false])
  func `a record is parsed with the same result as a decoder`(change: Int, isPretty: Bool) throws {
    let record = try Self.record(Self.changes[change])
    let json = try SnapshotJSON.encode(record, pretty: isPretty)
    #expect(SnapshotRecord(json: Array(json)) == record)
    #expect(try SnapshotJSON.decode(SnapshotRecord.self, from: json) == record)
  }

  /// Tests required and optional keys.
  @Test func `a record without a key is parsed with the same result as a decoder`() throws {
    let record = try Self.record {
      $0.attachedBy = "token"
      $0.expiresAt = Date(timeIntervalSince1970: 1)
      $0.isPinned = true
      $0.revision = 3
    }
    let all = try members(of: record)
    #expect(all.count == 17)
    for (key, value) in all {
      var others: [[String: Any]] = []
      for change in [nil, NSNull(), 1.5, "text", [1], ["a": 1], true] as [Any?] {
        var members = all
        members[key] = change
        others.append(members)
      }
      if let value = value as? [String: Any] {
        for inner in value.keys {
          var members = all
          var object = value
          object[inner] = nil
          members[key] = object
          others.append(members)
        }
      }
      for members in others {
        let json = try JSONSerialization.data(withJSONObject: members)
        let decoded: SnapshotRecord?
        do { decoded = try SnapshotJSON.decode(SnapshotRecord.self, from: json) } catch { decoded = nil }
        #expect(
          SnapshotRecord(json: Array(json)) == decoded, "\(key) in \(String(decoding: json, as: UTF8.self))")
      }
    }
  }

  @Test func `unknown keys of any size are skipped`() throws {
    let record = try Self.record()
    var members = try members(of: record)
    members["checksum"] = "1234"
    members["zebra"] = [
      "deep": [[["a": 1, "b": NSNull()], "x"]], "long": String(repeating: "x", count: 3 << 20),
    ]
    let json = try JSONSerialization.data(withJSONObject: members)
    #expect(SnapshotRecord(json: Array(json)) == record)
  }

  @Test func `a truncated record, or one followed by other bytes, is rejected`() throws {
    let json = Array(try SnapshotJSON.encode(try Self.record(), pretty: true))
    for count in json.indices { #expect(SnapshotRecord(json: Array(json[..<count])) == nil) }
    #expect(SnapshotRecord(json: json + Array(" \n".utf8)) != nil)
    #expect(SnapshotRecord(json: json + Array("{}".utf8)) == nil)
  }

  @Test func `a repeated key is rejected`() throws {
    let json = String(decoding: try SnapshotJSON.encode(try Self.record()), as: UTF8.self)
    #expect(SnapshotRecord(json: Array(json.utf8)) != nil)
    #expect(SnapshotRecord(json: Array((json.dropLast() + #","report":"BUG-2"}"#).utf8)) == nil)
  }

  private func members(of record: SnapshotRecord) throws -> [String: Any] {
    try #require(
      JSONSerialization.jsonObject(with: try SnapshotJSON.encode(record)) as? [String: Any])
  }
}
