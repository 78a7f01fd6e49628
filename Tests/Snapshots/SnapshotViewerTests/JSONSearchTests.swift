import JSONText
import SnapshotViewer
import Testing

struct JSONSearchTests {
  private func hits(_ query: String, in text: String) throws -> [JSONSearch.Hit] {
    try JSONSearch(ContentQuery(query)).hits(in: .of(text), count: 10).hits
  }

  @Test func `a search can be one of keys or of values`() throws {
    let text = #"{"end":"x","a":"the end"}"#
    for (query, fields) in [
      ("end", [ContentQuery.Field.key, .value]), ("key:end", [.key]), ("value:end", [.value]),
    ] {
      #expect(try hits(query, in: text).map(\.field) == fields)
    }
  }

  @Test func `hits are counted up to a limit`() throws {
    var limits = JSONSearch.Limits()
    limits.hits = 3
    let search = try JSONSearch(ContentQuery("x"))
    for (text, isCut) in [(#"["x","x","x"]"#, false), (#"["x","x","x","x"]"#, true)] {
      let result = try search.hits(in: .of(text), count: 2, limits: limits)
      #expect(result.hits.count == 2)
      #expect(result.count == 3)
      #expect(result.isCut == isCut)
    }
  }

  @Test func `an excerpt begins and ends with a whole character`() throws {
    let long = String(repeating: "日", count: 100)
    let excerpt = try #require(try hits("needle", in: "[\"\(long)NEEDLE\(long)\"]").first).excerpt
    #expect(excerpt.before == "…" + long.prefix(13))
    #expect(excerpt.match == "NEEDLE")
    #expect(excerpt.after == long.prefix(53) + "…")
  }

  @Test func `an excerpt is in lower case if its length differs there`() throws {
    let same = try #require(try hits("ärger", in: #"["Ä ÄRGER Ö"]"#).first).excerpt
    #expect([same.before, same.match, same.after] == ["Ä ", "ÄRGER", " Ö"])
    let other = try #require(try hits("ärger", in: #"["İ ÄRGER Ö"]"#).first).excerpt
    #expect([other.before, other.match, other.after] == ["İ ".lowercased(), "ärger", " ö"])
  }

  /// With a spacing of 16 bytes, a search passes over most of the document.
  @Test(arguments: [
    ("width:-1", ["/items/1/width"]), ("width:>5", ["/items/0/width", "/items/2/width"]),
    (".items[*].width", ["/items/0/width", "/items/1/width", "/items/2/width"]),
    (".items[2].width", ["/items/2/width"]), ("/items/2/width", ["/items/2/width"]),
    ("$..width:-1", ["/items/1/width"]), ("name:two", ["/items/1/name"]), ("tags:b", ["/items/1/tags/1"]),
    (".items[1].tags[1]", ["/items/1/tags/1"]), ("type:null", ["/items/2/none"]),
    ("\"two\"", ["/items/1/name"]),
    ("-1.0", ["/items/1/width"]), ("t*o", ["/items/1/name"]), ("key:none", ["/items/2/none"]),
    (".items[1]", ["/items/1"]), ("type:array", ["/items", "/items/1/tags"]),
  ])
  func `every form of query finds the same on the page of a file`(query: String, pointers: [String]) throws {
    let space = String(repeating: " ", count: 200)
    let text =
      #"{"items":[\(space){"width":1200},\(space){"name":"two","width":-1,"tags":["a",\(space)"b"]},"#
      + #"\(space){"width":10,"none":null}]}"#
    let view = try JSONView.of(text.replacing(#"\(space)"#, with: space))
    let found = try JSONSearch(ContentQuery(query)).hits(in: view, count: 10).hits
    #expect(found.map(\.path.pointer) == pointers)
  }
}
