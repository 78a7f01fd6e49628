import TestSupport
import Testing

@Suite struct RawThreadTests {
  @TaskLocal static var name: String?

  @Test func `blocking work runs in the context of its caller's test`() async throws {
    let test = Test.current?.id
    try await Self.$name.withValue("caller") {
      let (seen, name) = try await RawHTTPClient.run { (Test.current?.id, Self.name) }
      #expect(seen == test)
      #expect(seen != nil)
      #expect(name == "caller")
    }
  }
}
