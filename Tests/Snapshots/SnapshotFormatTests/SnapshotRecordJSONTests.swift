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
    { $0.isGood = true },
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
  func `a record is decoded as it was encoded`(change: Int, isPretty: Bool) throws {
    let record = try Self.record(Self.changes[change])
    let json = try SnapshotJSON.encode(record, pretty: isPretty)
    #expect(try SnapshotJSON.decode(SnapshotRecord.self, from: json) == record)
    #expect(try !SnapshotJSON.repeatsKey(Array(json)))
  }

  /// A property without a coding key would be lost in every store.
  @Test func `the JSON has all properties except the attempt`() throws {
    let record = try Self.record {
      $0.manifestID = SnapshotID()
      $0.attachedBy = "token"
      $0.expiresAt = Date(timeIntervalSince1970: 1)
      $0.comments = Self.comments(at: 2)
      $0.isPinned = true
      $0.isGood = true
      $0.problemCount = 4
      $0.sealed = SealedContents(
        recipients: [.init(type: "X25519", recipient: "age1")], size: 7, bundle: SnapshotID(),
        rewrapped: SnapshotID())
      $0.revision = 3
      $0.attempt = SnapshotID()
    }
    let properties = Set(Mirror(reflecting: record).children.compactMap(\.label))
    let members = try members(of: record)
    #expect(properties == Set(members.keys).union(["attempt"]))
    var decoded = try SnapshotJSON.decode(
      SnapshotRecord.self, from: JSONSerialization.data(withJSONObject: members))
    decoded.attempt = record.attempt
    #expect(decoded == record)
    let optional: Set = [
      "manifestID", "identifiers", "attachedBy", "expiresAt", "comments", "pinned", "good", "revision",
      "problemCount", "sealed",
    ]
    for key in members.keys {
      var others = members
      others[key] = nil
      let json = try JSONSerialization.data(withJSONObject: others)
      let isAccepted: Bool
      do {
        _ = try SnapshotJSON.decode(SnapshotRecord.self, from: json)
        isAccepted = true
      } catch {
        isAccepted = false
      }
      #expect(isAccepted == optional.contains(key), "\(key)")
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
    #expect(try SnapshotJSON.decode(SnapshotRecord.self, from: json) == record)
    #expect(try !SnapshotJSON.repeatsKey(Array(json)))
  }

  @Test(arguments: [
    (#"{"a":1,"a":1}"#, true), (#"{"a":[{"b":1,"c":{},"b":2}]}"#, true), (#"{"a":1,"b":{"a":1}}"#, false),
    (#"[{"a":1},{"a":1}]"#, false), (#"{"\u0061":1,"a":1}"#, true),
  ])
  func `a repeated key is found in any object`(json: String, isRepeated: Bool) throws {
    #expect(try SnapshotJSON.repeatsKey(Array(json.utf8)) == isRepeated)
  }

  private func members(of record: SnapshotRecord) throws -> [String: Any] {
    try #require(
      JSONSerialization.jsonObject(with: try SnapshotJSON.encode(record)) as? [String: Any])
  }
}
