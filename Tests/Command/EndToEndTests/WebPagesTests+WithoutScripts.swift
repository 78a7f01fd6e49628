import Foundation
import TestSupport
import Testing

extension WebPagesTests {
  @Test func `values of a file are found by folds, pages, searches and sorted tables without scripts`()
    async throws
  {
    try await withBrowser(hasScripts: false) { server, browser in
      let id = try await attach(["tree.json": Self.tree], to: server)
      try await browser.open(url("/snapshots/\(id)", on: server))
      try await browser.follow(".work-list a[href*='/files/']")

      // A fold contains a link to its contents. Buttons that need scripts are not shown.
      #expect(try await browser.has(".fold[hidden]"))
      try await browser.click(".json details[data-part] > summary")
      try await browser.follow(".json details[data-part] a[href*='at=']")
      #expect(try await browser.text(".path").contains("items"))
      #expect(try await browser.text(".json").contains("tag 19"))

      // From there to the list around it, and to its next values.
      try await browser.follow(".path a:nth-of-type(2)")
      try await browser.follow(".json > details > div > .more a")
      #expect(try await browser.text(".json").contains("Item 100"))
      #expect(try await browser.text(".json").contains("100 before"))

      try await browser.type("value:Item 149", into: "#inside")
      try await browser.follow(".inside button")
      #expect(try await browser.text("#hits").contains("1 hit"))
      try await browser.follow(".hits a")
      #expect(try await browser.text(".json p:has(:target)").contains("Item 149"))

      // A table of the first list in the file, sorted by a column.
      try await browser.open(url("/snapshots/\(id)/files/recordings/tree.json", on: server))
      try await browser.follow(".tabs a:nth-of-type(2)")
      #expect(try await browser.text(".path").contains("/items"))
      #expect(try await browser.text(".values tbody tr").contains("Item 0"))
      try await browser.follow(".values th:nth-of-type(3) a")
      #expect(try await browser.has(".values th[aria-sort=ascending]"))
      #expect(try await browser.text(".values tbody tr").contains("Item 149"))
      try await browser.follow(".pager [rel=next]")
      #expect(try await browser.text(".values tbody tr").contains("Item 49"))
    }
  }

  @Test func `snapshots are uploaded, commented and compared without scripts`() async throws {
    try await withBrowser(hasScripts: false) { server, browser in
      let first = try await attach(["feed.json": #"{"unread": 1}"#], to: server)
      let (bundle, second) = try await Sample.bundle(in: folder)
      try await browser.open(url("/reports/BUG-7", on: server))
      try await browser.type(bundle.path, into: "#bundle")
      try await browser.type("The second try", into: "#upload-note")
      try await browser.follow(".upload button")
      #expect(try await browser.url.contains("/snapshots/\(second)"))
      #expect(try await browser.text(".said-here").contains("The second try"))

      try await browser.follow("a[href*='show=comments']")
      try await browser.type("Reproduced", into: "#comment")
      try await browser.follow("#comments button")
      #expect(try await browser.text("#comments").contains("Reproduced"))

      // A snapshot of another application is not proposed, but can be chosen.
      try await browser.follow("a[href$='/diff']")
      try await browser.follow(".candidates a.button")
      #expect(try await browser.url.contains("\(first)/diff?with=\(second)"))
      #expect(try await browser.text("main").contains("feed.json"))
    }
  }
}
