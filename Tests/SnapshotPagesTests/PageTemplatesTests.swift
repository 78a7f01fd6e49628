import Testing

@testable import SnapshotPages

struct PageTemplatesTests {
  @Test func `a template is read`() throws {
    #expect(try PageTemplates.template(Array("{{x}}".utf8)).render(["x": "<"]) == "&lt;")
  }
}
