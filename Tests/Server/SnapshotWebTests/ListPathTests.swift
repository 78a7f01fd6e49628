@testable import SnapshotWeb
import Testing

struct ListPathTests {
  @Test(arguments: ["/", "/?text=a&cursor=b", "/reports/BUG-1", "/reports/proj%2F%239?cursor=a%3D"])
  func `a list on this server is a target`(path: String) {
    #expect(ListPath(path)?.description == path)
  }

  @Test func `an earlier notice is removed`() {
    #expect(ListPath("/?done=deleted")?.description == "/")
    #expect(ListPath("/?text=a&done=deleted&cursor=b")?.description == "/?text=a&cursor=b")
  }

  @Test(arguments: [
    "", "x", "//example.com", "///", "/\\example.com", "https://example.com/", "/sign-in", "/snapshots/a",
    "/reports", "/reports/", "/reports/a/b", "/reports/../x", "/?a#b", "/? a", "/?\n", "/reports/ä",
    "/?" + String(repeating: "a", count: 2000),
  ])
  func `nothing else is a target`(text: String) {
    #expect(ListPath(text) == nil)
  }
}
