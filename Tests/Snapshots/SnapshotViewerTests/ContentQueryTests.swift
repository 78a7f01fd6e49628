import JSONText
import SnapshotViewer
import Testing

struct ContentQueryTests {
  /// The JSON Pointers of what a query finds in a document.
  private func found(_ query: String, in text: String) throws -> [String] {
    try JSONSearch(ContentQuery(query)).hits(in: .of(text), count: 100).hits.map(\.path.pointer)
  }

  private func mistake(_ query: String) -> String? {
    do { _ = try ContentQuery(query) } catch { return error.description }
    return nil
  }

  @Test(arguments: [
    ("paid", #"["PAID","unpaid",{"paid":1}]"#, ["/0", "/1", "/2/paid"]),
    // Numbers.
    ("-99.9", #"[-99.9,-99.90,-9.99e1,99.9,"it is -99.9 °C","-9.99e1"]"#, ["/0", "/1", "/2", "/4"]),
    ("0", #"[0,-0,0.0,0e9,1,5]"#, ["/0", "/1", "/2", "/3"]),
    ("9007199254740993", #"[9007199254740992,9007199254740993]"#, ["/1"]),
    ("1e400", #"[1e400,10e399,1e401]"#, ["/0", "/1"]),
    ("1e99999999999999999999", #"[1e99999999999999999999,1]"#, ["/0"]),
    // Whole texts.
    (#""Paid""#, #"["Paid","paid","Paid!",{"Paid":0}]"#, ["/0", "/3/Paid"]),
    (#""1""#, #"[1,"1"]"#, ["/1"]), (#""""#, #"["",1,null]"#, ["/0"]),
    (#""a\"b""#, #"["a\"b","a\\\"b"]"#, ["/0"]),
    // Wildcards.
    ("img_*.png", #"["IMG_7.png","img_.png","img_7.png.zip","an img_7.png"]"#, ["/0", "/1"]),
    ("*b*", #"["abc","ac"]"#, ["/0"]), ("a*a", #"["a","aa","aba"]"#, ["/1", "/2"]),
    ("É*", #"["été","e"]"#, ["/0"]), ("**", #"["a**b","a"]"#, ["/0"]),
    // One field.
    ("key:token", #"{"token":"x","a":"token"}"#, ["/token"]),
    ("value:token", #"{"token":"x","a":"token"}"#, ["/a"]),
    (#"value:"key:1""#, #"["key:1"]"#, ["/0"]), ("value:a:b", #"["xa:b"]"#, ["/0"]),
    // Types.
    ("type:null", #"[null,"null",0,{"a":null}]"#, ["/0", "/3/a"]),
    ("type:boolean", #"[true,false,"true"]"#, ["/0", "/1"]), ("type:object", #"[{},[]]"#, ["/0"]),
    ("type:number", #"[1,"1"]"#, ["/0"]), ("type:string", #"[1,"1"]"#, ["/1"]),
  ])
  func `a text, a number, a type`(query: String, text: String, pointers: [String]) throws {
    #expect(try found(query, in: text) == pointers)
  }

  @Test(arguments: [
    ("width:-1", [0, 1, 2]), ("width:=-1", [0, 1]), ("width:<0", [0, 1, 2]), ("width:<=1200", [0, 1, 2, 3]),
    ("width:>1199.5", [3]), ("width:>=1200", [3]), ("width:null", [4]), ("width:true", [5]),
    ("width:\"null\"", [6]), ("width:type:number", [0, 1, 3]), ("width:type:string", [2, 6]),
    ("width:nul", [4, 6]), ("width:n*", [4, 6]), ("width:*", [0, 1, 2, 3, 4, 5, 6, 7]), ("WIDTH:true", [5]),
    ("w*h:null", [4]), ("\"width\":true", [5]), ("\"width\": true", [5]), ("\"WIDTH\":true", []),
    ("width:<\"z\"", [2, 6]), ("width:>m", [6]), ("width:type:array", [7]), ("width:\"a b\"", []),
    ("*:null", [4]), ("height:1", []),
  ])
  func `a condition at a key never fails for values of other types`(query: String, indices: [Int]) throws {
    let values = ["-1", "-1.0", "\"-1\"", "1.2e3", "null", "true", "\"null\"", "[]"]
    let text = "[\(values.map { "{\"width\":\($0)}" }.joined(separator: ","))]"
    #expect(try found(query, in: text) == indices.map { "/\($0)/width" })
  }

  @Test func `elements of an array at a key are values at the key`() throws {
    let text = #"{"tags":["a",["b"],{"a":"a"}],"a":"b"}"#
    #expect(try found("tags:a", in: text) == ["/tags/0"])
    #expect(try found("tags:b", in: text) == ["/tags/1/0"])
  }

  @Test(arguments: [
    (".a[*].w", ["/a/0/w", "/a/1/w", "/a/2/w"]), (".a[1].w", ["/a/1/w"]), ("/a/1/w", ["/a/1/w"]),
    ("$.a[1]['w']", ["/a/1/w"]), (".a[1][\"w\"]", ["/a/1/w"]), ("$['a'][1].w", ["/a/1/w"]),
    ("$..w", ["/a/0/w", "/a/1/w", "/a/2/w", "/w"]), ("..w:null", ["/w"]), ("$..w:<2", ["/a/1/w"]),
    (".*", ["/a", "/b c", "/w", "/1"]), (".[\"b c\"]", ["/b c"]), (".a..w:>1", ["/a/0/w", "/a/2/w"]),
    (".a[*].w:type:string", ["/a/2/w"]), ("/1", ["/1"]), (".missing", []), ("$..*:null", ["/w"]),
    ("/b c:\"x: y\"", ["/b c"]),
  ])
  func `a path finds values at any of its places`(query: String, pointers: [String]) throws {
    let text = #"{"a":[{"w":5},{"w":1},{"w":"7"}],"b c":"x: y","w":null,"1":0}"#
    #expect(try found(query, in: text) == pointers)
  }

  @Test func `a path in JSON Lines is one in each document, or in their list`() throws {
    let text = "{\"a\":1}\n{\"a\":2}"
    #expect(try found(".a", in: text) == ["/0/a", "/1/a"])
    #expect(try found(".[1].a", in: text) == ["/1/a"])
    #expect(try found("/1/a", in: text) == ["/1/a"])
  }

  @Test(arguments: [
    "localhost:8080", "/news/feed", ".png", "a:b", "https://example.com", "12:30", "Error: no", "fe80::1",
    "$5", "...",
    ".5", "/", "//", "\"", "width:", "50%", "2026-11-21T10:00:00Z", "type:article", "~\"é",
  ])
  func `what can be a text is found as one`(query: String) throws {
    #expect(try found(query, in: "[\(JSONSample.quoted("x \(query.uppercased()) y"))]") == ["/0"])
  }

  @Test(arguments: [
    ("", "no text"), ("key:", "key:paid"), ("value:", "value:paid"), ("\"abc", "quotation mark"),
    ("\"a\" b", "quotation mark"), ("\"a\":", "ends without a value"), ("width:<", "ends without a value"),
    ("width:>=", "ends without a value"), (".a:", "ends without a value"), (".a[", "is not a path"),
    (".a[x]", "is not a path"), (".a[\"x]", "is not a path"), (".a..", "is not a path"),
    (".a b[", "is not a path"),
    (".*foo", "is not a path"), ("$..id:type:nothing", "no type ‘nothing’"), ("width:\"a", "quotation mark"),
    ("/a~2", "is not a path"), ("$.", "is not a path"), (".a[99999999999999999999]", "is not a path"),
  ])
  func `a malformed query is refused with a sentence`(query: String, part: String) throws {
    let sentence = try #require(mistake(query), "\(query)")
    #expect(sentence.contains(part) && sentence.hasSuffix("."))
  }

  @Test func `queries, paths and wildcards have limits`() {
    let limits = ContentQuery.Limits()
    for (text, limit) in [
      ({ String(repeating: "x", count: $0) }, limits.bytes),
      ({ String(repeating: ".a", count: $0) }, limits.steps),
      ({ String(repeating: "*a", count: $0) }, limits.wildcards),
    ] as [((Int) -> String, Int)] {
      #expect(mistake(text(limit - 1)) == nil)
      #expect(mistake(text(limit)) == nil)
      #expect(mistake(text(limit + 1))?.contains("\(limit)") == true)
    }
  }

  @Test func `numbers are compared exactly and by size`() throws {
    let values = ["-1e3", "-10", "-0.5", "0", "1e-400", "0.50", "9.99", "10", "1e2", "123456789012345678901"]
    let text = "[\(values.map { "{\"n\":\($0)}" }.joined(separator: ","))]"
    for (index, value) in values.enumerated() {
      #expect(try found("n:<\(value)", in: text) == (0..<index).map { "/\($0)/n" })
      #expect(try found("n:>=\(value)", in: text) == (index..<values.count).map { "/\($0)/n" })
    }
  }

  @Test(arguments: [
    ("needle", "a NEEDLE b", "NEEDLE"), ("\"Needle\"", "a Needle b", "Needle"),
    ("\"needle\"", "a Needle b", nil),
    ("n*le", "a needle is", "needle"), ("value:needle", "needle", "needle"), ("key:needle", "needle", nil),
    ("a:b", "x A:B y", "A:B"), ("width:<0", "width:<0", nil), ("type:null", "type:null", nil),
    (".png", "x.PNG", ".PNG"), ("$..a", "$..a", nil), ("-1", "width: -1;", "-1"),
    ("\"a b", "x \"a b", "\"a b"),
  ])
  func `lines of text contain words, and no types`(query: String, line: String, match: String?) throws {
    let view = try #require(try TextView(ViewedBytes.of(line)))
    let found = try TextPattern.of(query).map { try view.matches(of: $0, from: 0, count: 1).matches } ?? []
    #expect(found.first?.excerpt.match == match)
  }
}

extension JSONSample {
  fileprivate static func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}
