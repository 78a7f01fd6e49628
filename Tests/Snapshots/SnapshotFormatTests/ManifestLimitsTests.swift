import Foundation
import SnapshotFormat
import Testing
import ZipArchive

/// The limits of a manifest for contents that are not part of a server's records.
@Suite struct ManifestLimitsTests {
  private func json(_ members: String) -> Data {
    Data(
      #"""
      {"formatVersion":1,"id":"0f3c5a7b-9d1e-4f60-8a2b-4c6d8e0f1a2b","createdAt":"2026-01-01T00:00:00Z",
      "application":{"identifier":"","version":"","build":""},
      "device":{"model":"","system":"","systemVersion":"","locale":""},
      "modules":[],"recordings":[],"redactions":[]\#(members)}
      """#.utf8)
  }

  private func refusal(_ json: Data, _ limits: Manifest.Limits = .default) -> String? {
    do {
      _ = try Manifest(json: json, limits: limits)
      return nil
    } catch {
      return error.description
    }
  }

  private func changed(_ from: String, _ to: String) -> Data {
    Data(String(decoding: json(""), as: UTF8.self).replacing(from, with: to).utf8)
  }

  @Test func `unknown keys have a limit in each object`() {
    var limits = Manifest.Limits()
    for (limit, isTaken) in [(12, false), (13, true), (14, true)] {
      limits.unknownLength = limit
      // Counted from the opening quote of the key to the end of the value.
      let words = refusal(json(#","new":"abcde""#), limits)
      #expect((words == nil) == isTaken, "\(words ?? "")")
      let inside = refusal(changed(#""build":"""#, #""build":"","new":"abcde""#), limits)
      #expect((inside == nil) == isTaken, "\(inside ?? "")")
    }
    limits.unknownLength = 20
    #expect(refusal(json(#","a":1,"b":2,"c":3"#), limits) == nil)
    #expect(refusal(json(#","a":1,"b":2,"c":3,"d":4,"e":5"#), limits)?.contains("more than 20 bytes") == true)
    #expect(refusal(json(#","a":["# + String(repeating: "1,", count: 1 << 20) + "1]")) != nil)
  }

  @Test func `the names of redaction rules have a limit`() {
    var limits = Manifest.Limits()
    for (limit, isTaken) in [(6, false), (7, true), (8, true)] {
      limits.redactionLength = limit
      let words = refusal(changed(#""redactions":[]"#, #""redactions":["abc","de"]"#), limits)
      #expect((words == nil) == isTaken, "\(words ?? "")")
    }
  }

  @Test func `a note and fields have limits, for reading and writing`() throws {
    func text(_ count: Int) -> String { String(repeating: "n", count: count) }
    func fields(_ count: Int) -> [String: String] {
      Dictionary(uniqueKeysWithValues: (0..<count).map { ("field \($0)", "") })
    }
    let limits = Manifest.Limits.default
    let sample = try Manifest(json: json(""))
    for excess in [-1, 0, 1] {
      let values: [(note: String?, fields: [String: String])] = [
        (text(limits.noteLength + excess), [:]), (nil, ["a": text(limits.fieldLength + excess)]),
        (nil, [text(limits.fieldNameLength + excess): "a"]), (nil, fields(limits.fields + excess)),
      ]
      for value in values {
        var manifest = sample
        (manifest.note, manifest.fields) = value
        let words = refusal(try SnapshotJSON.encode(manifest))
        #expect((words == nil) == (excess <= 0), "\(words ?? "")")
        let isWritten: Bool
        do {
          isWritten = try Manifest(json: manifest.json()) == manifest
        } catch {
          isWritten = false
        }
        #expect(isWritten == (excess <= 0))
      }
    }
    #expect(refusal(json(#","note":"a\u0000b""#))?.contains("null character") == true)
    #expect(refusal(json(#","fields":{"a":"\u0000"}"#))?.contains("null character") == true)
  }

  @Test(arguments: [
    (#","note":7"#, "‘note’ should be a string"), (#","fields":[]"#, "‘fields’ should be an object"),
    (#","fields":{"a":1}"#, "‘fields.a’ should be a string"),
    (#","fields":{"a":null}"#, "‘fields.a’ is null"),
  ])
  func `a note is text, and fields are texts`(members: String, words: String) {
    let refusal = refusal(json(members))
    #expect(refusal?.contains(words) == true, "\(refusal ?? "")")
  }

  @Test func `a manifest without a note and fields is written as before`() throws {
    for members in ["", #","note":null,"fields":null"#, #","fields":{}"#] {
      let manifest = try Manifest(json: json(members))
      #expect(manifest.note == nil && manifest.fields.isEmpty && manifest.unknown.isEmpty)
      let written = String(decoding: try manifest.json(), as: UTF8.self)
      #expect(!written.contains("note") && !written.contains("fields"))
    }
  }

  @Test
  func `the maximum number of recordings fits into a manifest and a zip, with other files`()
    throws
  {
    let most = Manifest.Limits.default.recordings
    let recording = Manifest.Recording(
      identifier: String(repeating: "x", count: 100), path: "recordings/r\(most)", size: 1 << 20,
      sha256: .of(Data()), recordedAt: Date(timeIntervalSince1970: 0))
    #expect(try (SnapshotJSON.encode(recording).count + 1) * most < Manifest.Limits.default.size)
    #expect(ZipLimits.default.entries >= 2 * most)
    #expect(ZipLimits.default.folders >= most)
  }

  @Test func `modules over the limit are counted and not kept`() {
    let many = #""modules":["# + String(repeating: #"{"name":"","files":["",""]},"#, count: 200_000)
    let words = refusal(changed(#""modules":["#, many + #"{"name":"a","files":[]}"#))
    #expect(words?.contains("have 600009 bytes of text") == true, "\(words ?? "")")
  }

  @Test(arguments: [
    (#""size":"1""#, "‘recordings[1].size’ should be an integer"),
    (#""size":1.5"#, "recordings[1].size: 1.5 has a fraction"),
    (#""size":null"#, "‘recordings[1].size’ is null"),
    (#""size":1e400"#, "recordings[1].size: 1e400 has a fraction or is too large"),
    (#""size":[{"a":[]}]"#, "‘recordings[1].size’ should be an integer"),
    (#""size":1,"path":7"#, "‘recordings[1].identifier’ is missing"),
    (#""size":1,"identifier":"a","path":7"#, "‘recordings[1].path’ should be a string"),
    (
      #""identifier":"a","path":"b","size":1,"sha256":"00""#,
      "recordings[1].sha256: ‘00’ is not 64 hexadecimal"
    ),
  ])
  func `a wrong recording is reported with its location`(members: String, words: String) {
    let right =
      #"{"identifier":"x","path":"recordings/x","size":0,"sha256":"\#(String(repeating: "0", count: 64))","recordedAt":"2026-01-01T00:00:00Z"}"#
    let wrong =
      members.hasPrefix(#""size":1,"#) || members.hasPrefix(#""identifier""#)
      ? "{\(members)}" : #"{"identifier":"a","path":"b",\#(members)}"#
    let refusal = refusal(changed(#""recordings":[]"#, #""recordings":[\#(right),\#(wrong)]"#))
    #expect(refusal?.contains(words) == true, "\(refusal ?? "")")
  }

  @Test func `numbers and call numbers can be written in any form`() throws {
    let recording =
      #"{"call":2e0,"identifier":"x","path":"recordings/x","size":1.5e1,"sha256":"\#(String(repeating: "A", count: 64))","recordedAt":"2026-01-01T01:00:00+01:00","new":{"a":[1]}}"#
    let manifest = try Manifest(json: changed(#""recordings":[]"#, #""recordings":[\#(recording)]"#))
    #expect(manifest.recordings.first?.size == 15)
    #expect(manifest.recordings.first?.call == 2)
    #expect(manifest.recordings.first?.recordedAt == manifest.createdAt)
  }

  @Test func `a wrong version is reported before all other errors`() {
    let words = refusal(Data(#"{"application":7,"recordings":{},"id":0,"formatVersion":9}"#.utf8))
    #expect(words?.contains("format version 9") == true, "\(words ?? "")")
  }

  @Test(arguments: ["{\"formatVersion\":2", "{\"formatVersion\":2}x", "{\"formatVersion\":2,}"])
  func `text that is not JSON is reported as such, even with a newer version in it`(text: String) {
    #expect(refusal(Data(text.utf8))?.contains("not JSON") == true)
  }
}
