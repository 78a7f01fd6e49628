import Foundation
import JSONText
import SnapshotDiff
import SnapshotFormat
import SnapshotViewer
@testable import SnapshotWeb
import SystemIO
import TestSupport
import Testing

/// The values that differ from another snapshot, as the page of a file marks them.
@Suite struct ValueMarksTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func view(_ text: String, _ name: String) throws -> JSONView {
    let file = try File(folder.file(name).path, .create(mode: 0o600))
    try file.write(Array(text.utf8), at: 0)
    let bytes = try ViewedBytes(file)
    guard case .index(let index) = try JSONIndex.of(bytes) else { throw CocoaError(.coderInvalidValue) }
    return JSONView(bytes, index)
  }

  /// The marks of the first document, one a line, in the order of the paths.
  private func marks(
    _ first: String, _ second: String, filter: ComparisonFilter = ComparisonFilter(), from: Int = 0,
    at pointer: String = "", limits: ValueMarks.Limits = .init(), outline: JSONOutline.Limits = .init()
  ) throws -> [String] {
    let (one, other) = (try view(first, "\(UUID())"), try view(second, "\(UUID())"))
    let tokens = try #require(JSONPath.tokens(ofPointer: pointer))
    let place = try #require(try one.place(at: tokens))
    let outline = try JSONOutline(one, place, from: from, limits: outline)
    let marks = try ValueMarks(outline, of: one, in: other, filter: filter, limits: limits)
    let lines =
      marks.marks.map { place, mark in "\(place.path) \(Self.words(mark))" }
      + marks.missing.flatMap { place, missing in
        missing.children.map { "\(place.path) misses \($0.key ?? "\($0.place.index)") of \(missing.count)" }
      }
    return lines.sorted()
  }

  private static func words(_ mark: ValueMarks.Mark) -> String {
    switch mark {
    case .added: "added"
    case .inside(let count): "\(count.map(String.init) ?? "?") inside"
    case .changed(let child):
      switch child.value {
      case .string(let text, _), .number(let text, _), .literal(let text): "was \(text)"
      case .object(let preview), .array(let preview): "was a container of \(preview.count)"
      }
    }
  }

  @Test func `a changed, an added and a missing value are marked`() throws {
    let name = "Zoë" + String(repeating: " and others", count: 8)
    let first = #"{"user":{"amount":-12.5,"name":"\#(name)","new":true}}"#
    let second = #"{"user":{"name":"\#(name)","amount":12.5,"old":[1]}}"#
    #expect(
      try marks(first, second) == [
        ".user misses old of 1", ".user.amount was 12.5", ".user.new added",
      ])
    #expect(try marks(first, first).isEmpty)
    #expect(try marks(#"{"user":{"amount":1}}"#, #"{"user":{"amount":2}}"#) == [".user was a container of 1"])
  }

  @Test func `the spelling of a value makes no difference`() throws {
    #expect(try marks(#"{"a":1,"b":"x","c":[1,2]}"#, #"{ "c": [1.0, 2], "b": "\u0078", "a": 1.0 }"#).isEmpty)
  }

  @Test func `a value of another kind is changed`() throws {
    #expect(
      try marks(#"{"a":1,"b":"1","c":null,"d":{}}"#, #"{"a":"1","b":{"x":1},"c":false,"d":[]}"#) == [
        ".a was 1", ".b was a container of 1", ".c was false", ".d was a container of 0",
      ])
  }

  @Test func `elements are recognized by their identifiers, and otherwise by their values`() throws {
    #expect(
      try marks(#"[{"id":9,"n":0},{"id":1,"n":1},{"id":2,"n":5}]"#, #"[{"id":1,"n":1},{"id":2,"n":2}]"#)
        == [".[0] added", ".[2] was a container of 2"])
    #expect(try marks("[2,3,4]", "[1,2,3,4]") == [". misses 0 of 1"])
    #expect(try marks("[1,2,9,4]", "[1,2,3,4]") == [".[2] was 3"])
  }

  @Test func `changes in a container that is not open are counted`() throws {
    func document(_ last: Int) -> String {
      #"{"list":[\#((0..<40).map { "{\"name\":\"a long enough name \($0)\"}" }.joined(separator: ",")),"#
        + #"{"name":"\#(last)"}]}"#
    }
    var outline = JSONOutline.Limits()
    outline.depth = 0
    #expect(try marks(document(1), document(2), outline: outline) == [".list 1 inside"])
    var limits = ValueMarks.Limits()
    limits.valueBytes = document(1).utf8.count - 9
    #expect(try marks(document(1), document(2), limits: limits, outline: outline).count == 1)
    limits.valueBytes = 100
    #expect(try marks(document(1), document(2), limits: limits, outline: outline).isEmpty)
  }

  @Test func `what the filter omits has no mark`() throws {
    let filter = try ComparisonFilter("updatedAt, $.items[*].token")
    let first = #"{"updated_at":1,"items":[{"token":"a","n":1}],"x":1}"#
    let second = #"{"updated_at":2,"items":[{"token":"b","n":1}],"x":2}"#
    #expect(try marks(first, second, filter: filter) == [".x was 2"])
  }

  @Test func `a part of a document is compared with the same part`() throws {
    let first = #"{"a":{"b":{"c":1}}}"#
    #expect(try marks(first, #"{"a":{"b":{"c":2}}}"#, at: "/a/b") == [".a.b.c was 2"])
    #expect(try marks(first, #"{"a":1}"#, at: "/a/b") == [".a.b added"])
  }

  @Test func `a page in the middle of a long array is compared with its surroundings`() throws {
    let items = (0..<500).map { "{\"id\":\($0),\"n\":1}" }
    var changed = items
    changed[250] = "{\"id\":250,\"n\":2}"
    changed.remove(at: 3)
    func text(_ items: [String]) -> String { "[\(items.joined(separator: ","))]" }
    #expect(try marks(text(items), text(changed), from: 200) == [".[250] was a container of 2"])
    #expect(try marks(text(items), text(changed)).isEmpty)
  }

  @Test func `of many missing members the first are shown, and all are counted`() throws {
    let many = (0..<50).map { "\"k\($0)\":1" }.joined(separator: ",")
    let lines = try marks("{}", "{\(many)}")
    #expect(lines == [". was a container of 50"] || lines.count == 20)
    #expect(try marks("{\"x\":{\"a\":1}}", "{\"x\":{\"a\":1},\(many)}").count == 20)
  }
}
