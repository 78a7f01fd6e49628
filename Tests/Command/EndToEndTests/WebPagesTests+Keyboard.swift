import Foundation
import TestSupport
import Testing

extension WebPagesTests {
  /// A JSON file whose tree has folds that are loaded when they are opened, and a list with further values.
  static let tree: String = {
    let items = (0..<150).map { index in
      let tags = (0..<30).map { "\"tag \($0)\"" }.joined(separator: ",")
      return """
        {"id":\(index),"name":"Item \(index)","price":\(149 - index),"tags":[\(tags)],"labels":[\(tags)]}
        """
    }
    return "{\"items\":[\(items.joined(separator: ","))],\"total\":-1}"
  }()

  /// Starts to note which elements receive the focus, and whether it is visible.
  private static let watchFocus = """
    (() => {
      const isShown = (element) => element.checkVisibility({visibilityProperty: true}) && !element.closest(":disabled");
      window.controls = [...document.querySelectorAll(
        "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")]
        .filter((element) => element.tabIndex >= 0 && isShown(element));
      window.focused = [];
      window.unseen = [];
      document.activeElement?.blur();
      addEventListener("focusin", ({target}) => {
        const style = getComputedStyle(target), box = target.getBoundingClientRect();
        window.focused.push(controls.indexOf(target));
        if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2 || box.right <= 0
          || style.clipPath !== "none") {
          window.unseen.push(target.outerHTML.slice(0, 100));
        }
      });
      return controls.length;
    })()
    """

  @Test func `every control of every page has a visible focus and is reached with the Tab key, in order`()
    async throws
  {
    try await withBrowser { server, browser in
      let files = ["tree.json": Self.tree, "log.txt": "one\ntwo", "table.json": "[{\"id\":1},{\"id\":2}]"]
      let first = try await attach(files, to: server)
      let second = try await attach(["tree.json": "{}"], to: server)
      let file = "/snapshots/\(first)/files/recordings"
      let pages = [
        "/?report=BUG-7", "/reports/BUG-7", "/snapshots/\(first)", "/snapshots/\(first)?show=details",
        "/snapshots/\(first)?show=comments", "/snapshots/\(first)/diff",
        "/snapshots/\(first)/diff?with=\(second)", "/snapshots/\(first)/history",
        "\(file)/tree.json?at=/items/3", "\(file)/table.json?view=table", "\(file)/tree.json?find=key:price",
        "\(file)/tree.json?view=formatted", "\(file)/log.txt", "\(file)/log.txt?view=hex", "/docs",
        "/docs/reference",
      ]
      for page in pages {
        try await browser.open(url(page, on: server))
        let count = try #require(Int(try await browser.evaluate(Self.watchFocus)))
        // Fields for times have several stops.
        for _ in 0..<10 where try await browser.evaluate("focused.includes(controls.length - 1)") == "false" {
          try await browser.press(Array(repeating: .tab, count: count))
        }
        // A second round begins when the last control was left.
        let order = "focused.slice(0, controls.length)"
        #expect(
          try await browser.evaluate("\(order).join()")
            == (0..<count).map(String.init).joined(separator: ","),
          "\(page)")
        #expect(try await browser.evaluate("unseen.join()") == "", "\(page)")
      }
    }
  }

  @Test func `folds, further values and the search of a file are used with the keyboard alone`() async throws
  {
    try await withBrowser { server, browser in
      let id = try await attach(["tree.json": Self.tree], to: server)
      try await browser.open(url("/snapshots/\(id)/files/recordings/tree.json", on: server))

      // A fold whose contents are loaded: its first value is the next stop.
      _ = try await browser.evaluate(
        "window.fold = document.querySelector('.json details[data-part]'), fold.firstElementChild.focus()")
      try await browser.press(.enter)
      try await browser.wait(for: "fold.querySelector('div .line') !== null")
      #expect(
        try await browser.evaluate("fold.open && document.activeElement === fold.firstElementChild") == "true"
      )
      try await browser.press(.tab)
      #expect(
        try await browser.evaluate("document.activeElement === fold.querySelector('div .line')") == "true")

      // Arrows close and open folds, and lead from one to the next.
      _ = try await browser.evaluate("fold.firstElementChild.focus()")
      try await browser.press(.left)
      #expect(try await browser.evaluate("fold.open") == "false")
      try await browser.press(.left)
      #expect(
        try await browser.evaluate(
          "document.activeElement === fold.parentElement.closest('details').firstElementChild") == "true")
      _ = try await browser.evaluate("fold.firstElementChild.focus()")
      try await browser.press(.right, .right)
      #expect(try await browser.evaluate("fold.open && fold.contains(document.activeElement)") == "true")

      // Further values of a list: the focus is at the first of them, not at the beginning of the page.
      _ = try await browser.evaluate(
        "window.rest = document.querySelector('.json > details > div > details > div > .more a'), rest.focus()"
      )
      try await browser.press(.enter)
      try await browser.wait(for: "!document.contains(rest)")
      #expect(try await browser.evaluate("document.activeElement.matches('.json .line')") == "true")

      #expect(try await !browser.text(".json").contains(" before"))

      // From anywhere on the page to a value by its path.
      try await browser.press(.f)
      #expect(try await browser.evaluate("document.activeElement.id") == "inside")
      try await browser.type(".items[149].name", into: "#inside")
      try await browser.press(.enter)
      try await browser.wait(for: "document.querySelector('.path') !== null")
      #expect(try await browser.text(".path").contains("/items/149/name"))
      #expect(try await browser.text("main").contains("Item 149"))
    }
  }

  @Test func `keys lead from recording to recording, to the search, from hit to hit and to the comparison`()
    async throws
  {
    try await withBrowser { server, browser in
      let id = try await attach(
        ["a.json": "{\"n\":1}", "b.json": "[\"needle\",\"needle\"]", "c.json": "{,"], to: server)
      let page = "/snapshots/\(id)"
      try await browser.open(url(page, on: server))
      // The first one with a problem.
      #expect(try await browser.text(".work-list [aria-current=page] .name") == "c.json")
      #expect(try await browser.text(".work-list [aria-current=page] .badge") == "invalid JSON, 1:2")
      try await browser.press(.up)
      try await browser.wait(for: "location.pathname.endsWith('b.json')")
      try await browser.press(.up)
      try await browser.wait(for: "location.pathname.endsWith('a.json')")
      #expect(try await browser.text(".work-list [aria-current=page] .name") == "a.json")
      #expect(try await browser.text(".work-pane").contains("\"n\""))
      try await browser.press(.down)
      try await browser.wait(for: "location.pathname.endsWith('b.json')")
      try await browser.press(.slash)
      #expect(try await browser.evaluate("document.activeElement.id") == "contents")
      try await browser.open(url("\(page)/files/recordings/b.json?find=needle&hit=1", on: server))
      try await browser.press(.n)
      try await browser.wait(for: "location.search.includes('hit=2')")
      try await browser.press(.p)
      try await browser.wait(for: "location.search.includes('hit=1')")
      try await browser.press(.c)
      try await browser.wait(for: "location.pathname.endsWith('/diff')")
    }
  }
}
