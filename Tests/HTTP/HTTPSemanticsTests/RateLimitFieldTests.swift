import HTTPSemantics
import Testing

@Suite struct RateLimitFieldTests {
  @Test func `a limit and its remaining quota are lists of strings with parameters`() {
    let field = RateLimitField(name: "token", quota: 100, window: 60, remaining: 50, reset: 30)
    #expect(field.policy == "\"token\";q=100;w=60")
    #expect(field.fieldValue == "\"token\";r=50;t=30")
  }

  @Test func `a unit other than requests is stated`() {
    let field = RateLimitField(
      name: "token", quota: 5, window: 6, unit: "content-bytes", remaining: 7, reset: 8)
    #expect(field.policy == "\"token\";q=5;w=6;qu=\"content-bytes\"")
    #expect(field.fieldValue == "\"token\";r=7;t=8")
  }

  @Test func `a name is quoted, and an invalid name gives an empty field`() {
    #expect(
      RateLimitField(name: "a \"b\"", quota: 1, window: 1, remaining: 0, reset: 1).policy
        == "\"a \\\"b\\\"\";q=1;w=1")
    #expect(RateLimitField(name: "ü", quota: 1, window: 1, remaining: 0, reset: 1).policy.isEmpty)
  }
}
