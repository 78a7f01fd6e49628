import Foundation
import SnapshotFormat
import Testing

struct ManifestTests {
  private static let digest = ContentDigest.of(Data())
  private static let time = Date(timeIntervalSince1970: 1_700_000_000.25)

  private static func manifest(_ recordings: [(String, String)] = [("news/feed", "recordings/news%2ffeed")])
    -> Manifest
  {
    Manifest(
      id: SnapshotID(), createdAt: time,
      application: .init(identifier: "com.example.news", version: "3.1", build: "7"),
      device: .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.0", locale: "de_AT"),
      modules: [Module(name: "News", files: ["news/feed"])],
      recordings: recordings.map {
        .init(identifier: $0.0, path: $0.1, size: 0, sha256: digest, recordedAt: time)
      },
      redactions: ["e-mail"])
  }

  /// The manifest above with `change` applied to its JSON.
  private func changed(_ change: (inout [String: JSONValue]) -> Void) throws -> Data {
    var object = try SnapshotJSON.decode([String: JSONValue].self, from: Self.manifest().json())
    change(&object)
    return try SnapshotJSON.encode(object)
  }

  private func refusal(_ json: Data, limits: Manifest.Limits = .default) -> String {
    do {
      _ = try Manifest(json: json, limits: limits)
      return "no refusal"
    } catch {
      return error.description
    }
  }

  @Test func `encoding and decoding preserves the manifest`() throws {
    var manifest = Self.manifest()
    #expect(try Manifest(json: manifest.json()) == manifest)
    manifest.report = try ReportID(validating: "BUG-1")
    #expect(try Manifest(json: manifest.json()) == manifest)
  }

  @Test func `times are rounded to milliseconds from the start`() {
    let manifest = Manifest(
      id: SnapshotID(), createdAt: Date(timeIntervalSince1970: 1.23456),
      application: Self.manifest().application,
      device: Self.manifest().device)
    #expect(manifest.createdAt == Date(timeIntervalSince1970: 1.235))
  }

  @Test func `unknown keys are preserved when written`() throws {
    let json = try changed {
      $0["mood"] = .object(["good": .array([.boolean(true), .number(1.5), .null])])
      $0["weight"] = .integer(9_007_199_254_740_993)
    }
    let manifest = try Manifest(json: json)
    #expect(Set(manifest.unknown.keys) == ["mood", "weight"])
    let again = try SnapshotJSON.decode([String: JSONValue].self, from: manifest.json())
    #expect(again == (try SnapshotJSON.decode([String: JSONValue].self, from: json)))
  }

  @Test func `an unknown key never replaces a known one`() throws {
    var manifest = Self.manifest()
    manifest.unknown["id"] = .string("x")
    #expect(try Manifest(json: manifest.json()).id == manifest.id)
  }

  @Test func `a newer format is reported as such, whatever else it contains`() {
    let words = refusal(Data(#"{"formatVersion": 3, "snapshots": []}"#.utf8))
    #expect(
      words
        == "The snapshot has format version 3; this software reads versions up to 2. Update it to open this snapshot."
    )
  }

  @Test(arguments: [
    ("", "JSON"), ("{", "JSON"), ("nonsense", "JSON"), ("[]", "it should be an object"),
    ("1", "it should be an object"),
    ("null", "manifest.json is refused"), ("{}", "‘formatVersion’ is missing"),
    (#"{"formatVersion": "1"}"#, "‘formatVersion’ should be an integer"),
    (#"{"formatVersion": 1.5}"#, "has a fraction"), (#"{"formatVersion": 0}"#, "versions begin at 1"),
    (#"{"formatVersion": null}"#, "‘formatVersion’ is null"), (#"{"formatVersion": 1}"#, "‘id’ is missing"),
    (#"{"formatVersion": 1, "id": "x"}"#, "id: ‘x’ is not a UUID"),
  ])
  func `invalid JSON is described in words`(json: String, words: String) {
    let refusal = refusal(Data(json.utf8))
    #expect(refusal.contains(words), "\(refusal)")
  }

  @Test func `a wrong value is reported with its location`() throws {
    let cases: [(String, JSONValue, String)] = [
      ("createdAt", .string("today"), "createdAt: ‘today’ is not a time"),
      ("report", .string("a b"), "report: A report id is made of"),
      ("application", .object([:]), "‘application.identifier’ is missing"),
      ("modules", .object([:]), "‘modules’ should be an array"),
      ("modules", .array([.integer(1)]), "‘modules[0]’ should be an object"),
      ("redactions", .array([.string("a"), .integer(1)]), "‘redactions[1]’ should be a string"),
      ("recordings", .array([.object(["identifier": .string("a")])]), "‘recordings[0].path’ is missing"),
    ]
    for (key, value, words) in cases {
      let refusal = refusal(try changed { $0[key] = value })
      #expect(refusal.contains(words), "\(refusal)")
    }
  }

  @Test(arguments: [
    "", "recordings", "recordings/", "recordings/.", "recordings/..", "recordings/a/b",
    "recordings/../manifest.json",
    "recordings/a\\b", "recordings/a\0", "recordings/a\n", "recordings/\u{E9}", "/recordings/a",
    "attachments/a", "Recordings/a",
    "recordings/" + String(repeating: "a", count: 256),
  ])
  func `a path that is not a file directly in recordings is rejected`(path: String) throws {
    let words = refusal(try SnapshotJSON.encode(Self.manifest([("fine", "recordings/fine"), ("bad", path)])))
    #expect(words.contains("recordings[1].path"), "\(words)")
  }

  @Test func `a path can have the longest name that file systems allow`() throws {
    let path = "recordings/" + String(repeating: "a", count: 255)
    _ = try Manifest(json: SnapshotJSON.encode(Self.manifest([("a", path)])))
  }

  @Test func `identifiers and paths must be unique`() throws {
    let identifiers = try SnapshotJSON.encode(Self.manifest([("a", "recordings/a"), ("a", "recordings/b")]))
    #expect(refusal(identifiers).contains("recordings[1].identifier: ‘a’ occurs twice"))
    let paths = try SnapshotJSON.encode(Self.manifest([("a", "recordings/a"), ("b", "recordings/a")]))
    #expect(refusal(paths).contains("recordings[1].path"))
    let cases = try SnapshotJSON.encode(Self.manifest([("a", "recordings/a"), ("b", "recordings/A")]))
    #expect(refusal(cases).contains("only in letter case"))
  }

  @Test func `a negative size is rejected`() throws {
    var manifest = Self.manifest()
    manifest.recordings[0].size = -1
    #expect(refusal(try SnapshotJSON.encode(manifest)).contains("recordings[0].size"))
  }

  @Test func `the limits are exact`() throws {
    let two = Self.manifest([("aaa", "recordings/a"), ("bbb", "recordings/b")])
    let json = try two.json()
    for excess in -1...1 {
      var limits = Manifest.Limits()
      limits.size = json.count - excess
      #expect((try? Manifest(json: json, limits: limits)) == (excess > 0 ? nil : two))
      #expect((try? two.json(limits: limits)) == (excess > 0 ? nil : json))
      limits = Manifest.Limits()
      limits.recordings = 2 - excess
      #expect((try? Manifest(json: json, limits: limits)) == (excess > 0 ? nil : two))
      #expect((try? two.json(limits: limits)) == (excess > 0 ? nil : json))
      limits = Manifest.Limits()
      limits.identifierLength = 3 - excess
      #expect((try? Manifest(json: json, limits: limits)) == (excess > 0 ? nil : two))
      #expect((try? two.json(limits: limits)) == (excess > 0 ? nil : json))
    }
  }

  @Test(arguments: [(-1, true), (0, true), (1, false), (400, false)])
  func `the nesting of an unknown key has a limit`(depth: (excess: Int, fits: Bool)) throws {
    let count = JSONValue.maximumDepth + depth.excess
    let deep = String(repeating: "[", count: count) + String(repeating: "]", count: count)
    let json = String(decoding: try Self.manifest().json(), as: UTF8.self).dropLast(2) + ",\"deep\":\(deep)}"
    #expect(refusal(Data(json.utf8)).contains("nested deeper") != depth.fits)
    #expect((refusal(Data(json.utf8)) == "no refusal") == depth.fits)
  }

  @Test func `extremely deep nesting is an error and not a crash`() {
    let abyss = String(repeating: "[", count: 1_000_000)
    #expect(refusal(Data(abyss.utf8)).contains("manifest.json is refused"))
  }

  @Test(arguments: [
    (#""id": "00000000-0000-4000-8000-000000000000""#, "id"), (#""\u0069d": 1"#, "id"),
    (#""formatVersion": 1"#, "formatVersion"), (#""recordings": []"#, "recordings"),
    (#""new": 1, "new": 1"#, "new"), (#""new": [{"a": {"b": 1}, "a": 2}]"#, "a"),
    (#""new": {"\"": 1, "\u0022": 2}"#, "\""), (#""é": 1, "e\u0301": 2"#, "é"),
  ])
  func `a repeated key is rejected, because parsers differ in which value they use`(
    members: String, key: String
  ) throws {
    let json = String(decoding: try Self.manifest().json(), as: UTF8.self).dropLast(2) + "," + members + "}"
    #expect(refusal(Data(json.utf8)).contains("‘\(key)’ occurs twice in one object"))
  }

  @Test func `equal keys in different objects, or in strings, are not repeated keys`() throws {
    let members = #""new": [{"a": 1}, {"a": {"a": ["a", "a", "\"a\":", {}]}}, "new", "id", "{\"a\":1"]"#
    let json = String(decoding: try Self.manifest().json(), as: UTF8.self).dropLast(2) + "," + members + "}"
    #expect(try Manifest(json: Data(json.utf8)).unknown.keys.contains("new"))
  }

  @Test func `a manifest in an encoding other than UTF-8 is rejected`() throws {
    let json = String(decoding: try Self.manifest().json(), as: UTF8.self)
    for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf32BigEndian] {
      #expect(refusal(try #require(json.data(using: encoding))).contains("not JSON in UTF-8"))
    }
  }

  @Test func `an error message ends with one full stop`() throws {
    #expect(refusal(try changed { $0["report"] = .string("a b") }).hasSuffix("is not allowed."))
  }

  @Test func `the text that a server copies into its records has a limit`() throws {
    var manifest = Self.manifest()
    manifest.application = .init(identifier: "aa", version: "", build: "")
    manifest.device = .init(model: "", system: "", systemVersion: "", locale: "")
    manifest.modules = [Module(name: "bb", files: ["c", "é"])]
    for (limit, isTaken) in [(16, false), (17, true), (18, true)] {
      var limits = Manifest.Limits()
      limits.descriptionLength = limit
      let words = refusal(try SnapshotJSON.encode(manifest), limits: limits)
      #expect(words.contains(isTaken ? "no refusal" : "have 17 bytes of text"), "\(words)")
    }
  }

  @Test func `a number that JSON cannot represent is rejected`() {
    var manifest = Self.manifest()
    manifest.unknown["x"] = .number(.nan)
    #expect(throws: BundleError.self) { try manifest.json() }
  }
}
