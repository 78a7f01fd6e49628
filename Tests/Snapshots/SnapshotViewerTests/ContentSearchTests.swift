import JSONText
import SnapshotViewer
import TestSupport
import Testing

/// The search in files as they stream by.
struct ContentSearchTests {
  /// Searches bytes that arrive in pieces of `size` bytes.
  private func outcome(
    _ query: String, in bytes: [UInt8], pieces size: Int = 1 << 17, limits: ContentSearch.Limits = .init(),
    isOver: @escaping () -> Bool = { false }
  ) throws -> ContentSearch.Outcome {
    try ContentSearch(ContentQuery(query), limits: limits).search(size: Int64(bytes.count), isOver: isOver) {
      var rest = bytes[...]
      return {
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(size) }
        return Array(rest.prefix(size))
      }
    }
  }

  private func findings(
    _ query: String, in text: String, pieces size: Int = 1 << 17, limits: ContentSearch.Limits = .init()
  ) throws -> ContentFindings {
    guard
      case .searched(let findings) = try outcome(query, in: Array(text.utf8), pieces: size, limits: limits)
    else { throw Unsearched() }
    return findings
  }

  private struct Unsearched: Error {}

  /// The groups as one text: `.a[*].b: "x" 1, 2 × 3`.
  private func text(_ findings: ContentFindings) -> [String] {
    findings.groups.map { group in
      (group.pattern ?? "lines") + ": "
        + group.values.map { value in
          (value.type == .string ? "\"\(value.excerpt.text)\"" : value.excerpt.text) + " × \(value.count)"
        }.joined(separator: ", ")
    }
  }

  @Test func `values are grouped by the form of their path, the rare ones first`() throws {
    let media = (0..<50).map { #"{"width":\#($0 == 31 ? -1 : 1200),"height":\#($0)}"# }.joined(separator: ",")
    let document = #"{"width":7,"articles":[{"media":[\#(media)]},{"media":[{"width":1200}]}]}"#
    #expect(
      try text(findings("width", in: document)) == [
        ".articles[*].media[*].width: -1 × 1, 1200 × 50", ".width: 7 × 1",
      ])
    #expect(try text(findings("width:-1", in: document)) == [".articles[*].media[*].width: -1 × 1"])
    let rare = try #require(try findings("width", in: document).groups.first?.values.first)
    #expect(rare.path?.description == ".articles[0].media[31].width")
    #expect(rare.hit == 33)
  }

  @Test func `values of different types, and keys with containers, are told apart`() throws {
    let document = #"[{"id":1},{"id":"1"},{"id":null},{"id":{}},{"id":[1]},{"id":true},{"a b":{"id":"x"}}]"#
    #expect(
      try text(findings("id", in: document)) == [
        ".[*].id: 1 × 1, \"1\" × 1, null × 1, {…} × 1, […] × 1, true × 1", ".[*][\"a b\"].id: \"x\" × 1",
      ])
    #expect(try text(findings("$..id:type:string", in: document)).first == ".[*].id: \"1\" × 1")
  }

  @Test func `a member whose key and value match is counted once`() throws {
    let found = try findings("end", in: #"{"end":"the end","x":"END"}"#)
    #expect(text(found) == [".end: \"the end\" × 1", ".x: \"END\" × 1"])
    #expect(found.count == 2)
    #expect(found.groups[1].values[0].hit == 3)
  }

  @Test(arguments: [1, 2, 3, 7, 64])
  func `pieces of any size give the same`(size: Int) throws {
    let document =
      #"{"a":"x\u006eeedle\ud83d\ude00","b":[-99.90,"needle",{"n\u0065edle":[1,2]}],"é":"NEEDLE Ärger"}"#
    for query in [
      "needle", "-99.9", "😀", "ärger", "é", "type:number", ".b[*]", "needle:2", "n*dle", "\"needle\"",
    ] {
      let whole = try findings(query, in: document)
      #expect(whole.count > 0, "\(query)")
      #expect(try findings(query, in: document, pieces: size) == whole, "\(query)")
    }
  }

  /// What the page of a file finds in its index, a stream finds too.
  @Test(arguments: 0..<20 as Range<UInt64>)
  func `a stream finds as many values as the page of the file`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let document = JSONSample.array((0..<6).map { _ in .random(depth: 4, using: &generator) })
      .text(using: &generator)
    for query in ["value:é", "77", "value:\"", "type:string", "$..*", "k3/~\"é", "$..[1]", "value:null", "日"]
    {
      let page = try JSONSearch(ContentQuery(query)).hits(in: .of(document, spacing: 64), count: 10_000)
      let stream = try findings(query, in: document, pieces: 50)
      // A member whose key and value match is one place.
      let places = Set(page.hits.map(\.path)).count
      #expect(stream.count == places || stream.count <= page.count && query == "日", "\(query) in \(document)")
    }
  }

  @Test func `the query of a value finds it as its first hit`() throws {
    let long = String(repeating: "long ", count: 100)
    let document = """
      {"rows":[{"v":1},{"v":"1"},{"v":1.0},{"v":"a \\"b\\" \\\\ \\n"},{"v":null},{"v":true},{"v":"true"},{"v":[0]},\
      {"v":{}},{"v":"\(long)"},{"v":"\\ud83d"},{"v":""}],"a.b":{"c d":[{"v":-5}]}}
      """
    let view = try JSONView.of(document)
    var limits = ContentSearch.Limits()
    limits.listedValues = 100
    let found = try findings("v", in: document, limits: limits)
    #expect(found.count == 13)
    for group in found.groups {
      for value in group.values {
        let query = try #require(ContentFindings.query(of: value, in: group), "\(value)")
        let hit = try JSONSearch(ContentQuery(query)).hits(in: view, count: 1).hits.first
        #expect(hit?.path == value.path, "\(query)")
      }
    }
  }

  @Test func `JSON Lines have a list around their documents`() throws {
    let found = try findings("level:error", in: "{\"level\":\"info\"}\n{\"level\":\"error\"}\n")
    #expect(text(found) == [".[*].level: \"error\" × 1"])
    #expect(found.groups[0].values[0].path?.pointer == "/1/level")
    let value = try #require(found.groups.first?.values.first)
    #expect(ContentFindings.query(of: value, in: found.groups[0]) == ".[*].level:\"error\"")
    #expect(try text(findings("level", in: "{\"level\":1}\n")) == [".level: 1 × 1"])
  }

  @Test func `text that is no JSON is searched by its lines`() throws {
    for (text, lines) in [
      ("{ not JSON\nNeedle 1\r\nhay\nneedle 2", [1, 3]), ("1 needle\nneedle", [0, 1]),
      ("{\"a\":1} needle\n", [0]), ("\u{FEFF}needle", [0]),
    ] {
      for size in [3, 1000] {
        let found = try findings("needle", in: text, pieces: size)
        #expect(found.groups.first?.pattern == nil)
        #expect(found.groups.first?.values.map(\.line) == lines)
        #expect(found.groups.first?.values.map(\.hit) == Array(1...lines.count))
      }
    }
    let same = String(repeating: "retry\n", count: 500) + "retry at last\n"
    #expect(try self.text(findings("retry", in: same)) == ["lines: retry at last × 1, retry × 500"])
    #expect(try findings("width:<0", in: "width:<0\n").isEmpty)
  }

  @Test func `property lists and text in UTF-16 are searched as they are shown`() throws {
    let xml = "<plist><dict><key>width</key><integer>-1</integer></dict></plist>"
    #expect(try text(findings("width:-1", in: xml)) == [".width: -1 × 1"])
    let other = "<?xml version='1.0'?><svg width='-1'/>"
    #expect(try findings("width", in: other).groups.first?.pattern == nil)
    let json = "{\"width\":-1}"
    let little = json.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let big = json.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    for bytes in [[0xFF, 0xFE] + little, big, Array(json.utf8) + [0, 0, 0]] {
      for size in [1, 5, 100] {
        guard case .searched(let found) = try outcome("width:-1", in: bytes, pieces: size) else {
          Issue.record("not searched")
          continue
        }
        #expect(text(found) == [".width: -1 × 1"])
      }
    }
    let binary: [UInt8] =
      Array("bplist00".utf8) + [0xD1, 1, 2, 0x51, 0x61, 0x10, 7] + [8, 11, 13]
      + [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]
    guard case .searched(let found) = try outcome("a:7", in: binary, pieces: 10) else {
      Issue.record("not searched")
      return
    }
    #expect(text(found) == [".a: 7 × 1"])
    #expect(try outcome("a", in: binary.dropLast(9)) == .binary)
  }

  @Test func `images and other bytes are not searched`() throws {
    #expect(try outcome("PNG", in: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]) == .binary)
    #expect(try outcome("a", in: [0xFF, 0xFE, 0x41, 0, 0x42]) == .binary)
    #expect(try findings("a", in: "").isEmpty)
  }

  // MARK: - Limits

  @Test func `a file beyond the limit is not searched`() throws {
    var limits = ContentSearch.Limits()
    limits.file = 10
    #expect(try outcome("1", in: Array("[111111]".utf8) + [0x20, 0x20], limits: limits) != .tooLarge)
    #expect(try outcome("1", in: Array("[11111111]\n".utf8), limits: limits) == .tooLarge)
  }

  @Test func `groups and values beyond a limit are counted`() throws {
    var limits = ContentSearch.Limits()
    (limits.groups, limits.values, limits.listedGroups, limits.listedValues) = (3, 4, 2, 3)
    let rows = (0..<10).map { #"{"v":\#($0),"k\#($0)":{"v":0}}"# }.joined(separator: ",")
    let found = try findings("v", in: "[\(rows)]", limits: limits)
    #expect(found.count == 20)
    let group = try #require(found.groups.first { $0.pattern == ".[*].v" })
    #expect(group.count == 10)
    #expect(group.values.count == 3)
    #expect((group.otherValues, group.otherCount) == (1, 7))
    #expect(found.groups.count == 2)
    #expect((found.otherGroups, found.otherCount) == (1, 9))
    #expect(
      try findings(
        "v", in: "[\(rows)]",
        limits: {
          $0.groups = 100; $0.listedGroups = 100; return $0
        }
      ).groups.count == 11)
  }

  private func findings(
    _ query: String, in text: String, limits change: (inout ContentSearch.Limits) -> ContentSearch.Limits
  ) throws -> ContentFindings {
    var limits = ContentSearch.Limits()
    return try findings(query, in: text, limits: change(&limits))
  }

  @Test func `forms of paths beyond the limit are counted together`() throws {
    var limits = ContentSearch.Limits()
    limits.forms = 5
    let found = try findings(
      "1", in: "{\((0..<20).map { "\"k\($0)\":1" }.joined(separator: ","))}", limits: limits)
    #expect(found.count == 20)
    #expect(found.groups.count == 5)
    #expect(found.otherCount == 15)
  }

  @Test func `a long path has no query, and a long value has that of its path`() throws {
    let key = String(repeating: "k", count: 2000)
    let found = try findings("x", in: #"{"\#(key)":"x","s":"x\#(key)"}"#)
    let long = try #require(found.groups.first)
    #expect(!long.isPatternWhole)
    #expect(long.values[0].path == nil)
    #expect(ContentFindings.query(of: long.values[0], in: long) == nil)
    let short = found.groups[1]
    #expect(!short.values[0].isWhole)
    #expect(ContentFindings.query(of: short.values[0], in: short) == ".s")
  }

  @Test func `a search that is over has what it found, and says how far it came`() throws {
    let document = Array("[\((0..<1000).map { "{\"v\":\($0)}" }.joined(separator: ","))]".utf8)
    var rounds = 0
    let outcome = try outcome("type:number", in: document, pieces: 1000) {
      rounds += 1
      return rounds > 3
    }
    guard case .unfinished(let found, let share) = outcome else {
      Issue.record("it did not end")
      return
    }
    #expect(found.count > 100 && found.count < 900)
    #expect(share > 0.1 && share < 0.9)
    guard case .unfinished(_, let none) = try self.outcome("v", in: document, isOver: { true }) else {
      Issue.record("it did not end")
      return
    }
    #expect(none == 0)
    let lines = Array(String(repeating: "a needle\n", count: 1000).utf8)
    var pieces = 0
    guard
      case .unfinished(let some, _) = try self.outcome(
        "needle", in: lines, pieces: 900,
        isOver: {
          pieces += 1; return pieces > 2
        })
    else {
      Issue.record("it did not end")
      return
    }
    #expect(some.count == 200)
  }

  @Test func `a file that is longer than what is kept is opened again`() throws {
    var limits = ContentSearch.Limits()
    limits.held = 100
    var opened = 0
    let bytes = Array("{ \(String(repeating: "x", count: 1000))\nneedle".utf8)
    let outcome = try ContentSearch(ContentQuery("needle"), limits: limits).search(size: Int64(bytes.count)) {
      opened += 1
      var rest = bytes[...]
      return {
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(50) }
        return Array(rest.prefix(50))
      }
    }
    guard case .searched(let found) = outcome else {
      Issue.record("not searched")
      return
    }
    #expect(found.groups.first?.values.map(\.line) == [1])
    #expect(opened > 1)
  }

  @Test func `errors of reading are passed on`() throws {
    struct Broken: Error {}
    #expect(throws: Broken.self) {
      try ContentSearch(ContentQuery("x")).search(size: 10) { { throw Broken() } }
    }
  }

  @Test func `hostile documents are searched within the limits`() throws {
    let deep = String(repeating: "[", count: 500) + "\"x\"" + String(repeating: "]", count: 500)
    #expect(try findings("x", in: deep).count == 1)
    let tooDeep = String(repeating: "[", count: 600) + "\"x\"" + String(repeating: "]", count: 600)
    #expect(try findings("x", in: tooDeep).groups.first?.pattern == nil)
    let keys =
      (0..<300).map { "{\"\(String(repeating: "k", count: 900))\($0)\":" }.joined() + "\"x\""
      + String(repeating: "}", count: 300)
    let found = try findings("value:x", in: keys)
    #expect(found.count == 1)
    #expect(found.groups.first?.values.first?.path == nil)
    #expect((found.groups.first?.pattern?.utf8.count ?? 0) < 1000)
    let backtracking = String(repeating: "a", count: 60_000)
    #expect(try findings("a*a*a*a*a*a*b", in: "[\"\(backtracking)\"]").isEmpty)
  }
}
