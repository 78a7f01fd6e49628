import JSONText
import SnapshotViewer
import TestSupport
import Testing

struct JSONViewTests {
  @Test(arguments: 0..<60 as Range<UInt64>, [(16, 32 << 10), (24, 6), (1 << 14, 32 << 10)])
  func `every value is found by its path, with its contents and lines`(
    seed: UInt64, index: (spacing: Int, entries: Int)
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let sample = JSONSample.random(depth: 5, using: &generator)
    let view = try JSONView.of(
      sample.text(using: &generator), spacing: index.spacing, entries: index.entries)
    #expect(view.index.lines == sample.lines)
    try check(view.value(at: view.root).value, sample)
    try compare(sample, view.root, in: view)
  }

  /// Compares the children of `place` with those of `sample`, whole and in pages.
  private func compare(_ sample: JSONSample, _ place: JSONPlace, in view: JSONView) throws {
    let expected: [(key: String?, value: JSONSample)]
    switch sample {
    case .object(let members): expected = members.map { ($0.0, $0.1) }
    case .array(let elements): expected = elements.map { (nil, $0) }
    default: expected = []
    }
    var children: [JSONChild] = []
    while case let page = try view.children(of: place, from: children.count, limit: 3), !page.isEmpty {
      children += page
    }
    try #require(children.count == expected.count)
    var line = place.line + 1
    for (index, (child, wanted)) in zip(children, expected).enumerated() {
      #expect(child.key == wanted.key)
      #expect(child.place.index == index)
      #expect(child.place.line == line)
      #expect(!child.isDuplicate)
      line += wanted.value.lines
      check(child.value, wanted.value)
      let tokens = try #require(JSONPath.tokens(ofPointer: child.place.path.pointer))
      #expect(try view.place(at: tokens) == child.place)
      try compare(wanted.value, child.place, in: view)
    }
  }

  private func check(_ value: JSONChild.Value, _ sample: JSONSample) {
    switch (value, sample) {
    case (.object(let preview), .object(let members)):
      #expect(preview.count == members.count)
      #expect(preview.lines == sample.lines)
      #expect(preview.items.map(\.key) == members.prefix(8).map { $0.0 })
    case (.array(let preview), .array(let elements)):
      #expect(preview.count == elements.count)
      #expect(preview.lines == sample.lines)
      #expect(preview.items.count == min(8, elements.count))
    case (.string(let text, isCut: false), .string(let wanted)): #expect(text == wanted)
    case (.number(let text, isCut: false), .number(let wanted)): #expect(text == wanted)
    case (.literal(let text), .literal(let wanted)): #expect(text == wanted)
    default: Issue.record("\(value) is not \(sample)")
    }
  }

  @Test func `JSON Lines are one list`() throws {
    let view = try JSONView.of("{\"a\":1}\n{\"a\":2}\n\n[3]\n\"x\"\n", spacing: 4)
    #expect(view.index.isSequence)
    guard case .array(let preview) = try view.value(at: view.root).value else {
      Issue.record("not a list")
      return
    }
    #expect(preview.count == 4)
    for page in 1...4 {
      var children: [JSONChild] = []
      while case let more = try view.children(of: view.root, from: children.count, limit: page), !more.isEmpty
      {
        children += more
      }
      #expect(children.map(\.place.line) == [1, 4, 7, 10].map { $0 - 1 })
      #expect(children.last?.value == .string("x", isCut: false))
    }
    let place = try #require(try view.place(at: ["1", "a"]))
    #expect(try view.value(at: place).value == .number("2", isCut: false))
    #expect(try view.place(at: ["4"]) == nil)
  }

  @Test(arguments: [
    "", " ", "{", "[1,]", "{\"a\":1,}", "1 2", "word", "\"a\" {}", "[1] x", "{\"a\" 1}", "[\u{1}]", "nul",
  ])
  func `what is not JSON is refused`(text: String) throws {
    guard case .invalid = try JSONIndex.of(ViewedBytes.of(text)) else {
      Issue.record("\(text) was accepted")
      return
    }
  }

  @Test(arguments: [("[1]", 3, true), ("[1] ", 3, false)])
  func `a document has a maximum size`(text: String, size: Int, isAccepted: Bool) throws {
    var limits = JSONIndex.Limits()
    limits.size = size
    switch try JSONIndex.of(ViewedBytes.of(text), limits: limits) {
    case .index: #expect(isAccepted)
    case .tooLarge: #expect(!isAccepted)
    case .invalid(let failure): Issue.record(failure)
    }
  }

  @Test(arguments: ["/", "/b", "/a/0", "/a/b", "/a/01", "/a/3", "/a/-1", "/a/+1", "/a/1/c", "/c"])
  func `a path without a value finds nothing`(pointer: String) throws {
    let view = try JSONView.of(#"{"a":[{},1,2],"d":"x"}"#)
    let tokens = try #require(JSONPath.tokens(ofPointer: pointer))
    let found = try view.place(at: tokens)
    #expect((found != nil) == (pointer == "/a/0"))
  }

  @Test func `equal keys are marked, and paths find the first`() throws {
    let view = try JSONView.of(#"{"a":1,"b":2,"a":3,"\u0061":4}"#, spacing: 4)
    let children = try view.children(of: view.root, from: 0, limit: 10)
    #expect(children.map(\.isDuplicate) == [true, false, true, true])
    #expect(try view.children(of: view.root, from: 2, limit: 1).map(\.isDuplicate) == [true])
    let place = try #require(try view.place(at: ["a"]))
    #expect(try view.value(at: place).value == .number("1", isCut: false))
  }

  @Test func `long keys and strings are cut to whole characters`() throws {
    let long = String(repeating: "é", count: 600)
    let view = try JSONView.of("{\"\(long)\":\"\(long)\",\"b\":[\"\(long)\"]}")
    let children = try view.children(of: view.root, from: 0, limit: 2)
    #expect(children[0].isKeyCut)
    #expect(children[0].key == String(repeating: "é", count: 512))
    #expect(children[0].value == .string(String(repeating: "é", count: 512), isCut: true))
    guard case .array(let preview) = children[1].value else {
      Issue.record("not a list")
      return
    }
    #expect(!preview.isComplete)
    #expect(preview.items.first?.text == String(repeating: "é", count: 24))
  }

  @Test func `numbers keep their digits`() throws {
    let view = try JSONView.of("[1.000000000000000000001e+400,-0]")
    #expect(
      try view.children(of: view.root, from: 0, limit: 2).map(\.value)
        == [.number("1.000000000000000000001e+400", isCut: false), .number("-0", isCut: false)])
  }
}

struct JSONPointerTests {
  @Test(arguments: [
    ("", []), ("/", [""]), ("/a/b", ["a", "b"]), ("/a~1b/m~0n", ["a/b", "m~n"]), ("/~01", ["~1"]),
    ("/ /é", [" ", "é"]), ("/\u{301}/x", ["\u{301}", "x"]),
  ])
  func `pointers are decoded`(pointer: String, tokens: [String]) {
    #expect(JSONPath.tokens(ofPointer: pointer) == tokens)
    #expect(JSONPath(tokens.map { .key($0) }).pointer == pointer)
  }

  @Test(arguments: [
    (".", []), (".a.b", ["a", "b"]), (".[0]", ["0"]), (".a[12].c", ["a", "12", "c"]),
    (#".["a b"]["\u00e9"]"#, ["a b", "é"]), (#".x["]"][0]"#, ["x", "]", "0"]),
  ])
  func `paths in the syntax of jq are read`(path: String, tokens: [String]) {
    #expect(JSONPath.tokens(ofPath: path) == tokens)
  }

  @Test(arguments: ["", "a", "..", ".a.", ".[", ".[]", ".[x]", ".[1", #".["a"#, #".["a""#, ".[1]x", ".[-1]"])
  func `other texts are not paths`(text: String) {
    #expect(JSONPath.tokens(ofPath: text) == nil)
  }

  @Test(arguments: ["a", "/~", "/~2", "#/a", "/a~"])
  func `other texts are refused`(text: String) {
    #expect(JSONPath.tokens(ofPointer: text) == nil)
  }
}
