import SnapshotViewer
import Testing

struct JSONSearchTests {
  private func hits(_ query: String, in text: String) throws -> [JSONSearch.Hit] {
    try #require(JSONSearch(query)).hits(in: .of(text), count: 10).hits
  }

  @Test func `a search can be one of keys or of values`() throws {
    let text = #"{"end":"x","a":"the end"}"#
    for (query, fields) in [
      ("end", [JSONSearch.Field.key, .value]), ("key:end", [.key]), ("value:end", [.value]),
    ] {
      #expect(try hits(query, in: text).map(\.field) == fields)
    }
  }

  @Test func `a query has a text of limited length`() {
    #expect(JSONSearch(String(repeating: "x", count: 256)) != nil)
    for query in ["", "key:", "value:", String(repeating: "x", count: 257)] {
      #expect(JSONSearch(query) == nil)
    }
  }

  @Test func `hits are counted up to a limit`() throws {
    var limits = JSONSearch.Limits()
    limits.hits = 3
    let search = try #require(JSONSearch("x"))
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
}
