import SnapshotWeb
import TestSupport
import Testing

struct JSONTreeTests {
  private func page(_ lines: [JSONLine]) throws -> (page: HTMLPage, html: String) {
    let bytes = try PageRenderer().render(
      try SamplePages.usual.preview(.json(lines)), in: PageFrame(account: .open))
    return (try HTMLPage(bytes), String(decoding: bytes, as: UTF8.self))
  }

  @Test func `containers fold, and their ends follow what they hold`() throws {
    let (page, html) = try page([
      JSONLine(depth: 0, .object(count: 2)), JSONLine(depth: 1, key: "a", .array(count: 1)),
      JSONLine(depth: 2, .number("1.50")), JSONLine(depth: 1, key: "b", .literal("null")),
    ])
    #expect(page.all("details").count == 2)
    #expect(
      html.contains(
        "<b>\"a\"</b>: [ <i>1 item</i></summary><div><p><span class=\"number\">1.50</span></p></div><p>]</p></details><p>"
      ))
  }

  @Test func `an empty container, and one whose contents are not there, is one line`() throws {
    let (page, html) = try page([
      JSONLine(depth: 0, .array(count: 2)), JSONLine(depth: 1, .object(count: 0)),
      JSONLine(depth: 1, .array(count: nil)),
    ])
    #expect(page.all("details").count == 1)
    #expect(html.contains(">{}<"))
    #expect(html.contains(">[…]<"))
  }

  @Test func `whatever depths lines have, every container that opens is closed`() throws {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<50 {
      let lines = (0..<60).map { _ in
        let depth = Int.random(in: -1...70, using: &generator)
        return JSONLine(
          depth: depth, key: "k", Bool.random(using: &generator) ? .array(count: nil) : .number("1"))
      }
      _ = try page(lines)
    }
  }

  @Test func `deep nesting goes on side by side`() throws {
    let lines = (0..<500).map { JSONLine(depth: $0, .array(count: 1)) }
    #expect(try page(lines).page.all("details").count == 40)
  }

  @Test func `a document that is too long for a page says so`() throws {
    let lines = (0..<5000).map {
      JSONLine(depth: $0 == 0 ? 0 : 1, $0 == 0 ? .array(count: 4999) : .number("\($0)"))
    }
    let (_, html) = try page(lines)
    #expect(html.contains("The page shows only the beginning."))
    #expect(html.utf8.count <= 60_000)
  }
}
