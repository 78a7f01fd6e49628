import HTTPSemantics
import Testing

@Suite struct EntityTagTests {
  @Test(arguments: ["\"a\"", "W/\"a\"", "\"\"", "\"a,b\"", "\"ü\"", "\"W/\"", "\"a\\\""])
  func `a tag is written as it was read`(text: String) throws {
    #expect(try #require(EntityTag(text)).description == text)
  }

  @Test(arguments: [
    "", "a", "\"a", "a\"", "w/\"a\"", "W\"a\"", "\"a\"b", " \"a\"", "\"a b\"", "\"a\"b\"", "*",
  ])
  func `invalid tags are rejected`(text: String) {
    #expect(EntityTag(text) == nil)
  }

  @Test(arguments: [
    ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false),
    ("W/\"1\"", "\"1\"", false, true),
    ("\"1\"", "\"1\"", true, true),
  ])
  func `tags are compared as in the table of RFC 9110`(left: String, right: String, strong: Bool, weak: Bool)
    throws
  {
    let (left, right) = (try #require(EntityTag(left)), try #require(EntityTag(right)))
    #expect(left.matchesStrongly(right) == strong)
    #expect(right.matchesStrongly(left) == strong)
    #expect(left.matchesWeakly(right) == weak)
    #expect(right.matchesWeakly(left) == weak)
  }

  @Test func `conditions are lists or an asterisk`() throws {
    let (a, b) = (EntityTag.strong("a"), try #require(EntityTag("W/\"b,\"")))
    #expect(EntityTag.Condition("*") == .any)
    #expect(EntityTag.Condition(" * ") == .any)
    #expect(EntityTag.Condition("\"a\"") == .tags([a]))
    #expect(EntityTag.Condition("\"a\", W/\"b,\"") == .tags([a, b]))
    #expect(EntityTag.Condition(",\"a\" ,, W/\"b,\",") == .tags([a, b]))
    for malformed in ["", ",", "a", "\"a\" \"b\"", "*, \"a\"", "\"a\", *", "\"a\",b", "**"] {
      #expect(EntityTag.Condition(malformed) == nil, "\(malformed)")
    }
  }
}
