import HTTPEngine
import Testing

@Suite struct QueryParametersTests {
  @Test func `names and values are decoded once, and plus is a space`() throws {
    let query = try QueryParameters("a=1&b=x+y%2Bz&c&d=&%C3%BC=%2525&e=f=g&&")
    #expect(query.pairs.map(\.name) == ["a", "b", "c", "d", "ü", "e"])
    #expect(query.pairs.map(\.value) == ["1", "x y+z", "", "", "%25", "f=g"])
    #expect(try query.value("b") == "x y+z")
    #expect(try query.value("nothing") == nil)
  }

  @Test func `no query has no names`() throws {
    #expect(try QueryParameters(nil).pairs.isEmpty)
    #expect(try QueryParameters("").pairs.isEmpty)
  }

  @Test func `in a form, tabs and line ends become spaces`() throws {
    let form = try QueryParameters(form: Array("a=x%0D%0ay%09z&b=+1".utf8))
    #expect(try form.value("a") == "x  y z")
    #expect(try form.value("b") == " 1")
    #expect(throws: HTTPProblem.self) { try QueryParameters("a=x%0Dy") }
    #expect(throws: HTTPProblem.self) { try QueryParameters(form: [UInt8(ascii: "%")]) }
  }

  @Test(arguments: ["a=%", "a=%g0", "%0=1", "a=%00", "a=%FF"])
  func `a query that can't be decoded is a 400`(query: String) {
    #expect(throws: HTTPProblem.self) { try QueryParameters(query) }
  }

  @Test func `a name that occurs twice is an error`() throws {
    let query = try QueryParameters("limit=1&limit=2")
    #expect(throws: HTTPProblem.self) { try query.value("limit") }
  }

  @Test func `the number of names is limited`() throws {
    let most = QueryParameters.maximumCount
    func query(_ count: Int) -> String { (0..<count).map { "n\($0)=" }.joined(separator: "&") }
    #expect(try QueryParameters(query(most - 1)).pairs.count == most - 1)
    #expect(try QueryParameters(query(most)).pairs.count == most)
    #expect(throws: HTTPProblem.self) { try QueryParameters(query(most + 1)) }
  }
}
