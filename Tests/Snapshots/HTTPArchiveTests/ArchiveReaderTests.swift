import Foundation
import HTTPArchive
import JSONText
import Testing

/// Archives are read part by part, and refused with a reason.
@Suite struct ArchiveReaderTests {
  private static let archive = """
    \u{FEFF}{"_tool": {"v": 1.50}, "log": {"version":"1.2","pages":[],
      "entries":[{"a":1},{"b":"\\u00e9\\ud83d\\ude00\\ud800"}],"creator":{"name":"x","version":"1"}}, "after": null}
    """

  @Test(arguments: [1, 2, 7, 4096])
  func `all parts are read in order and keep their spelling`(size: Int) throws {
    let parts = try parts(of: Self.archive, in: size)
    let texts = parts.map { part in
      switch part {
      case .beginLog: "log"
      case .endLog: "end of log"
      case .beginEntries: "entries"
      case .endEntries: "end of entries"
      case .member(let place, let member):
        "\(place) \(member.name) \(String(decoding: member.value.json, as: UTF8.self))"
      case .entry(let value, let isWhole): "\(isWhole) \(String(decoding: value.json, as: UTF8.self))"
      }
    }
    #expect(
      texts == [
        #"document _tool {"v":1.50}"#, "log", #"log version "1.2""#, "log pages []", "entries",
        #"true {"a":1}"#, #"true {"b":"\u00e9\ud83d\ude00\ud800"}"#, "end of entries",
        #"log creator {"name":"x","version":"1"}"#, "end of log", "document after null",
      ])
  }

  @Test func `what is written is read as the same parts`() throws {
    let original = try parts(of: Self.archive)
    var bytes: [UInt8] = []
    var writer = try ArchiveWriter { bytes += $0 }
    for part in original {
      switch part {
      case .beginLog: try writer.beginLog()
      case .endLog: try writer.endLog(creator: .null)
      case .beginEntries: try writer.beginEntries()
      case .endEntries: try writer.endEntries()
      case .member(_, let member): try writer.members(ArchiveValue.object([member]).json, named: member.name)
      case .entry(let value, _): try writer.entry(value.json)
      }
    }
    try writer.finish()
    #expect(try parts(of: bytes) == original)
  }

  @Test func `a version and a creator are added`() throws {
    var bytes: [UInt8] = []
    var writer = try ArchiveWriter { bytes += $0 }
    try writer.beginLog()
    try writer.beginEntries()
    try writer.endEntries()
    try writer.endLog(creator: .object([.init("name", ArchiveValue("me"))]))
    try writer.finish()
    let json = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: [String: Any]]
    #expect(json?["log"]?["version"] as? String == "1.2")
    #expect((json?["log"]?["creator"] as? [String: String]) == ["name": "me"])
    #expect((json?["log"]?["entries"] as? [Any])?.isEmpty == true)
  }

  @Test(arguments: [
    ("", "is truncated"), ("[]", "it is not an object"), ("{}", "it has no object ‘log’"),
    ("{\"log\":[]}", "its log is not an object"), ("{\"log\":{}}", "no list ‘entries’"),
    ("{\"log\":{\"entries\":{}}}", "its entries are not a list"),
    ("{\"log\":{\"entries\":[1]}}", "its entry 1 is not an object"),
    ("{\"log\":{\"entries\":[]},\"log\":{\"entries\":[]}}", "it has two logs"),
    ("{\"log\":{\"entries\":[],\"entries\":[]}}", "two lists of entries"),
    ("{\"log\":{\"entries\":[{\"a\":\"x", "is truncated"), ("{\"log\":{\"entries\":[]}", "is truncated"),
    ("{\"log\":{\"entries\":[]}} x", "it is not JSON"), ("<html>", "it is not JSON"),
    ("\u{1}", "it is not JSON"),
  ])
  func `a file that is no archive is refused with a reason`(text: String, reason: String) throws {
    let error = try #require(throws: ArchiveError.self) { try parts(of: text) }
    #expect(error.description.contains(reason), "\(error)")
  }

  @Test func `bytes that are not UTF-8 are refused`() throws {
    let bytes = Array("{\"log\":{\"entries\":[{\"a\":\"".utf8) + [0xFF] + Array("\"}]}}".utf8)
    #expect(throws: ArchiveError.self) { try parts(of: bytes) }
  }

  @Test(arguments: [1, 2, 3, 100])
  func `numbers that JSON does not have become null, but not in texts`(size: Int) throws {
    let entries = try parts(
      of: #"{"log":{"entries":[{"a":NaN,"b":-Infinity,"c":"NaN \"Infinity","d":[NaN,-1,Infinity]}]}}"#,
      in: size)
    let value = entries.compactMap { if case .entry(let value, _) = $0 { value } else { nil } }[0]
    #expect(
      String(decoding: value.json, as: UTF8.self)
        == #"{"a":null,"b":null,"c":"NaN \"Infinity","d":[null,-1,null]}"#)
  }

  @Test func `the last of several members with the same name counts`() throws {
    let value = try entries(#"{"a":1,"b":2,"a":3}"#)[0].value
    #expect(value["a"]?.integer == 3)
  }

  @Test func `the limits hold at their value`() throws {
    var limits = ArchiveLimits()
    limits.entries = 2
    #expect(try entries("{},{}", limits: limits).count == 2)
    #expect(throws: ArchiveError.limit("has more than 2 entries; split it into several archives")) {
      try entries("{},{},{}", limits: limits)
    }
    limits.depth = 5
    #expect(try entries(#"{"a":[]}"#, limits: limits).count == 1)
    #expect(throws: ArchiveError.self) { try entries(#"{"a":[[]]}"#, limits: limits) }
    // The object, the key and its text, the string and its text.
    let size = 3 * ArchiveLimits.valueSize + 1 + 10
    for (limit, isWhole) in [(size, true), (size + 1, true), (size - 1, false)] {
      var limits = ArchiveLimits()
      limits.entrySize = limit
      let entries = try entries(#"{"a":"0123456789"},{"b":1}"#, limits: limits)
      #expect(entries.map(\.isWhole) == [isWhole, true])
    }
    limits = ArchiveLimits()
    limits.entrySize = 200
    let pages = "{\"log\":{\"entries\":[],\"pages\":\"\(String(repeating: "x", count: 80))\"}}"
    #expect(throws: ArchiveError.self) { try parts(of: pages, limits: limits) }
    limits.entrySize = 400
    #expect(try !parts(of: pages, limits: limits).isEmpty)
  }

  @Test func `many small values of a large entry are not kept`() throws {
    var limits = ArchiveLimits()
    limits.entrySize = 10_000
    let list = "[" + String(repeating: "[[0],{\"a\":1}],", count: 2000) + "0]"
    let entry = try entries("{\"first\":1,\"list\":\(list),\"last\":2}", limits: limits)[0]
    #expect(!entry.isWhole)
    #expect(entry.value["first"]?.integer == 1 && entry.value["last"] == nil)
    #expect(entry.value.json.count < 10_000)
  }
}
