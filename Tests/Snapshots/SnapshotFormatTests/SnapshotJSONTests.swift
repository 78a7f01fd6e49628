import Foundation
import SnapshotFormat
import Testing

struct SnapshotJSONTests {
  @Test func `every millisecond is preserved`() throws {
    var random = SplitMix64(seed: 1)
    let dates = (0..<5000).map { _ in
      SnapshotJSON.milliseconds(
        of: Date(
          timeIntervalSince1970: Double(Int64.random(in: 0...4_000_000_000_000, using: &random)) / 1000))
    }
    let json = try SnapshotJSON.encode(dates)
    #expect(try SnapshotJSON.decode([Date].self, from: json) == dates)
  }

  @Test func `dates are RFC 3339 in UTC with milliseconds`() throws {
    let json = try SnapshotJSON.encode([Date(timeIntervalSince1970: 1_700_000_000.0126)])
    #expect(String(decoding: json, as: UTF8.self) == #"["2023-11-14T22:13:20.013Z"]"#)
  }

  @Test(arguments: [
    ("2023-11-14T22:13:20Z", 1_700_000_000.0), ("2023-11-14T22:13:20.5Z", 1_700_000_000.5),
    ("2023-11-14T23:13:20+01:00", 1_700_000_000.0), ("2023-11-14T04:13:20-18:00", 1_700_000_000.0),
  ])
  func `other formats of RFC 3339 are accepted`(text: String, time: Double) throws {
    let date = try SnapshotJSON.decode([Date].self, from: Data("[\"\(text)\"]".utf8))
    #expect(date == [Date(timeIntervalSince1970: time)])
  }

  @Test func `text that is not a time is rejected`() {
    #expect(throws: DecodingError.self) {
      try SnapshotJSON.decode([Date].self, from: Data("[\"yesterday\"]".utf8))
    }
    #expect(throws: DecodingError.self) { try SnapshotJSON.decode([Date].self, from: Data("[1]".utf8)) }
  }

  @Test(arguments: [
    "2023-02-29T00:00:00Z", "2023-02-30T00:00:00Z", "1900-02-29T00:00:00Z", "2023-13-01T00:00:00Z",
    "2023-00-01T00:00:00Z", "2023-01-00T00:00:00Z", "2023-04-31T00:00:00Z", "2023-11-14T24:00:00Z",
    "2023-11-14T25:00:00Z", "2023-11-14T22:60:00Z", "2023-11-14T22:13:60Z", "2023-11-14T22:13:20Zjunk",
    "2023-11-14T22:13:20Z ", " 2023-11-14T22:13:20Z", "2023-11-14T22:13:20", "2023-11-14T22:13:20.Z",
    "2023-1-14T2:13:20Z", "12023-11-14T22:13:20Z", "99999-01-01T00:00:00Z", "20231114T221320Z",
    "2023-11-14 22:13:20Z", "2023-11-14T22:13:20+0100", "2023-11-14T22:13:20+01:00x", "",
    "2023-11-14T22:13:20.0123456789Z", "2023-11-14T22:13:20+18:01", "2023-11-14T22:13:20-01:60",
  ])
  func `an invalid time is rejected`(text: String) {
    #expect(throws: DecodingError.self) {
      try SnapshotJSON.decode([Date].self, from: Data("[\"\(text)\"]".utf8))
    }
  }

  @Test(arguments: ["2024-02-29T23:59:59Z", "2000-02-29T00:00:00.000001Z", "0000-01-01T00:00:00-00:00"])
  func `the limits of the calendar are valid times`(text: String) throws {
    _ = try SnapshotJSON.decode([Date].self, from: Data("[\"\(text)\"]".utf8))
  }

  @Test(arguments: [
    "9999-12-31T23:59:59.9999Z", "9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00",
    "0000-01-01T00:00:00Z",
  ])
  func `times at the limits of the calendar can be parsed and formatted`(text: String) throws {
    let dates = try SnapshotJSON.decode([Date].self, from: Data("[\"\(text)\"]".utf8))
    #expect(try SnapshotJSON.decode([Date].self, from: SnapshotJSON.encode(dates)) == dates)
  }

  @Test func `times outside the calendar are formatted with its first and last year`() throws {
    let edges = try SnapshotJSON.encode([-1e15, 1e15].map(Date.init(timeIntervalSince1970:)))
    let texts = try JSONDecoder().decode([String].self, from: edges)
    // Foundation uses the Julian calendar for the first years.
    #expect(texts[0].hasPrefix("0000-01-0"))
    #expect(texts[1] == "9999-12-31T23:59:59.999Z")
  }

  @Test func `keys are sorted and slashes are not escaped`() throws {
    let json = try SnapshotJSON.encode(["b": "x/y", "a": "z"])
    #expect(String(decoding: json, as: UTF8.self) == #"{"a":"z","b":"x/y"}"#)
  }
}

struct JSONValueTests {
  @Test(arguments: [
    "null", "true", "false", "0", "-1", "9223372036854775807", "1.5", "1e+300", "\"\"", "\"é\\n\"", "[]",
    "{}",
    #"[1,"a",null,[true,{}]]"#, #"{"a":{"b":[1.5]},"c":""}"#,
  ])
  func `any JSON value is preserved`(json: String) throws {
    let value = try SnapshotJSON.decode(JSONValue.self, from: Data(json.utf8))
    #expect(String(decoding: try SnapshotJSON.encode(value), as: UTF8.self) == json)
  }

  @Test func `integers, fractions and Booleans are distinguished`() throws {
    let value = try SnapshotJSON.decode(
      JSONValue.self, from: Data("[1, 1.5, true, 18446744073709551616]".utf8))
    #expect(value == .array([.integer(1), .number(1.5), .boolean(true), .number(18446744073709551616)]))
  }

  @Test(arguments: [(63, true), (64, true), (65, false)])
  func `nesting has a limit`(depth: Int, isRead: Bool) {
    let json = String(repeating: "[", count: depth) + "0" + String(repeating: "]", count: depth)
    let value = try? SnapshotJSON.decode(JSONValue.self, from: Data(json.utf8))
    #expect((value != nil) == isRead)
  }
}
