import JSONText
import SnapshotViewer
import TestSupport
import Testing

/// Searches, formatted pages and sorted tables pass over parts of a document. They must not differ from reading all of
/// it.
struct JSONPassingTests {
  /// A document with enough values for places in several containers.
  private func sample(_ seed: UInt64) -> (JSONSample, String) {
    var generator = SeededGenerator(seed: seed)
    let elements = (0..<12).map { _ in JSONSample.random(depth: 3, using: &generator) }
    let sample = JSONSample.object([("first", .array(elements)), ("second", .string("the END"))])
    return (sample, sample.text(using: &generator))
  }

  @Test(arguments: 0..<10 as Range<UInt64>, [16, 64, 1 << 14])
  func `a search finds every key and value that contains the text`(seed: UInt64, spacing: Int) throws {
    let (sample, text) = sample(seed)
    let view = try JSONView.of(text, spacing: spacing)
    for query in [
      "end", "second", "k3", "K3/", "é", "É", "日", "日日日", "\"", "\\", "\n", "1", "77", "true", "ul", "~\"é",
      "no such",
    ] {
      let search = try JSONSearch(ContentQuery(query))
      let result = try search.hits(in: view, count: 10_000)
      let expected = sample.texts.filter { $0.lowercased().contains(query.lowercased()) }
      #expect(result.count == expected.count, "\(query) in \(text)")
      for hit in result.hits.prefix(20) {
        let tokens = try #require(JSONPath.tokens(ofPointer: hit.path.pointer))
        let place = try #require(try view.place(at: tokens), "\(hit.path)")
        #expect(place.index == hit.index)
      }
      let second = try search.hits(in: view, from: 1, count: 2)
      #expect(second.hits == Array(result.hits.dropFirst().prefix(2)))
    }
  }

  @Test(arguments: [
    (#"{"a": "x\u0041bc"}"#, "xabc"), (#"["\/path\/to"]"#, "path/to"), (#"["\u00e9t\u00e9"]"#, "été"),
    (#"["\uD83D\uDE00"]"#, "😀"),
    (#"["tab\there"]"#, "b\th"), ("[\"ÄRGER\"]", "ärger"), ("{\"東京タワー\": 1}", "京タ"), ("[\"KILO\"]", "kilo"),
  ])
  func `a search finds texts that are written in another way`(text: String, query: String) throws {
    let search = try JSONSearch(ContentQuery(query))
    let long = "[" + String(repeating: "[\"------------------------\"],", count: 40) + text + "]"
    for document in [text, long] {
      let result = try search.hits(in: JSONView.of(document), count: 10)
      #expect(result.count == 1, "\(document.suffix(40))")
    }
  }

  /// The document is searched in pieces of 128 KiB.
  @Test(arguments: [
    (#""needle""#, "needle"), (#"{"NEEDLE":1}"#, "needle"), (#""n\u0065edle""#, "needle"),
    (#""\u0078""#, "x"), (#""-\n-""#, "\n"), (#""日本""#, "日本"),
  ])
  func `a match at the border of two pieces is found`(value: String, query: String) throws {
    let search = try JSONSearch(ContentQuery(query))
    let row = "\"\(String(repeating: "-", count: 97))\","
    for overlap in 0...value.utf8.count {
      let start = (128 << 10) - overlap
      let rows = String(repeating: row, count: (start - 1) / row.utf8.count)
      let space = String(repeating: " ", count: start - 1 - rows.utf8.count)
      let view = try JSONView.of("[\(rows)\(space)\(value),[1]]", spacing: 1 << 14)
      let result = try search.hits(in: view, count: 10)
      #expect(result.count == 1, "\(overlap) bytes before the border")
    }
  }

  @Test(arguments: 0..<10 as Range<UInt64>, [16, 64])
  func `formatted pages are parts of the whole`(seed: UInt64, spacing: Int) throws {
    let (_, text) = sample(seed)
    let whole = try JSONFormatted(JSONView.of(text, spacing: 1 << 14), from: 0).lines
    let view = try JSONView.of(text, spacing: spacing)
    var limits = JSONFormatted.Limits()
    limits.lines = 5
    for from in 0..<min(whole.count, 100) {
      let page = try JSONFormatted(view, from: from, limits: limits)
      // The comma after the last value of a page belongs to the next one.
      let expected = whole[from..<min(from + 5, whole.count)]
      #expect(page.lines.dropLast() == expected.dropLast(), "line \(from) of \(text)")
    }
  }

  @Test(arguments: [16, 1 << 14])
  func `rows are sorted by numbers, texts, words and the sizes of containers`(spacing: Int) throws {
    let values = [
      "3", "\"b\"", "null", "[1,2]", "-1.5", "\"a\\u0062\"", "true", "{\"x\":{\"y\":1}}", "[]", "3",
    ]
    let rows = values.enumerated().map { "{\"id\":\($0),\"nested\":{\"v\":9},\"v\":\($1),\"rest\":[1,[2]]}" }
    let text = "{\"list\":[" + rows.joined(separator: ", ") + ",{\"id\":10},7,[8]]}"
    let view = try JSONView.of(text, spacing: spacing)
    let place = try #require(try view.place(at: ["list"]))
    func ids(_ isDescending: Bool, from: Int = 0) throws -> [Int] {
      let order = JSONTable.Order(key: "v", isDescending: isDescending)
      var limits = JSONTable.Limits()
      limits.rows = 5
      return try #require(try JSONTable(view, place, from: from, order: order, limits: limits)).rows.map(
        \.child.place.index)
    }
    #expect(try ids(false) + ids(false, from: 5) == [2, 6, 4, 0, 9, 5, 1, 8, 7, 3])
    #expect(try ids(false, from: 10) == [10, 11, 12])
    #expect(try ids(true) == [3, 7, 8, 1, 5])
  }
}

extension JSONSample {
  /// All keys and values as texts.
  fileprivate var texts: [String] {
    switch self {
    case .object(let members): members.flatMap { [$0.0] + $0.1.texts }
    case .array(let elements): elements.flatMap(\.texts)
    case .string(let text), .number(let text), .literal(let text): [text]
    }
  }
}
