import TestSupport
import Testing

@testable import SnapshotWeb

struct MarkdownTests {
  // MARK: - Blocks

  @Test func `headings have unique ids`() {
    #expect(
      Markdown("# One\n## A `b`: c!\n## A b c\n####### no\n#no").blocks == [
        .heading(level: 1, id: "one", [.text("One")]),
        .heading(level: 2, id: "a-b-c", [.text("A "), .code("b"), .text(": c!")]),
        .heading(level: 2, id: "a-b-c-2", [.text("A b c")]),
        .paragraph([.text("####### no #no")]),
      ])
  }

  @Test func `a paragraph ends at a blank line or at another block`() {
    #expect(
      Markdown("one\n  two\n\nthree\n- item\n\nfour\n```\ncode").blocks == [
        .paragraph([.text("one two")]), .paragraph([.text("three")]),
        .list(isOrdered: false, items: [[.paragraph([.text("item")])]]),
        .paragraph([.text("four")]), .code(["code"]),
      ])
  }

  @Test func `lists are nested by their indentation`() {
    let nested = Markdown.Block.list(
      isOrdered: true, items: [[.paragraph([.text("x")])], [.paragraph([.text("y")])]])
    #expect(
      Markdown("- a\n  continued\n  1. x\n  2. y\n\n- b\n\n  more\n1. c").blocks == [
        .list(
          isOrdered: false,
          items: [
            [.paragraph([.text("a continued")]), nested],
            [.paragraph([.text("b")]), .paragraph([.text("more")])],
          ]),
        .list(isOrdered: true, items: [[.paragraph([.text("c")])]]),
      ])
  }

  @Test func `rows of a table have as many cells as its head`() {
    #expect(
      Markdown("| | b |\n| --- | :-: |\n| `x\\|y` | z | 3 |\n| 1 |\nend").blocks == [
        .table(
          header: [[], [.text("b")]],
          rows: [[[.code("x|y")], [.text("z")]], [[.text("1")], []]]),
        .paragraph([.text("end")]),
      ])
    #expect(Markdown("| no table |").blocks == [.paragraph([.text("| no table |")])])
  }

  @Test func `code is taken as it is`() {
    #expect(
      Markdown("````sh\n```\n# `a` *b*\n````\n\n    in\n      out\n\nend").blocks == [
        .code(["```", "# `a` *b*"]), .code(["in", "  out"]), .paragraph([.text("end")]),
      ])
  }

  // MARK: - Spans

  @Test(
    arguments: [
      ("a `b` ``c`d`` ` `` e", [.text("a "), .code("b"), .text(" "), .code("c`d"), .text(" ` `` e")]),
      ("``Symbol``", [.code("Symbol")]),
      ("``/Module/Type`` ``//``", [.code("Type"), .text(" "), .code("//")]),
      ("*a* **b *c***", [.emphasis([.text("a")]), .text(" "), .strong([.text("b *c")]), .text("*")]),
      ("2 * 3 * 4, *x", [.text("2 * 3 * 4, *x")]),
      ("**a `**` b**", [.strong([.text("a "), .code("**"), .text(" b")])]),
      ("[a `b`](https://x.example/y)", [.link([.text("a "), .code("b")], "https://x.example/y")]),
      ("[a](javascript:x) [b](/c)", [.text("[a](javascript:x) [b](/c)")]),
      ("see [`A` b](/documentation/a)", [.text("see "), .text("A b")]),
      ("[<doc:API>](#x)", [.link([.text("<doc:API>")], "#x")]),
      ("see <doc:API>.", [.text("see "), .article("API"), .text(".")]),
      ("<doc:> <b>&amp;", [.text("<doc:> <b>&amp;")]), ("\\*a\\* \\b", [.text("*a* \\b")]),
    ] as [(String, [Markdown.Span])])
  func `a line is divided into spans`(text: String, spans: [Markdown.Span]) {
    #expect(Markdown.spans(text) == spans)
  }

  // MARK: - Pages

  private static let manual = Manual(
    [
      "Landing": Array(
        """
        # ``Landing``

        All of it.

        ## Overview

        Text.

        ## Topics

        ### First

        - <doc:Some>
        - <doc:Missing>
        """.utf8),
      "Some": Array("# Some *article*\n\nIts abstract.\n\n## Overview\n\nSee <doc:Missing>.".utf8),
    ], landing: "Landing")

  private func html(_ markdown: String) throws -> HTMLPage {
    let page = DocumentPage(title: [.text("T")], lead: [], Markdown(markdown).blocks, Self.manual)
    return try Self.html(page)
  }

  private static func html(_ page: DocumentPage) throws -> HTMLPage {
    let renderer = try PageRenderer()
    return try HTMLPage(renderer.render(renderer.render(page), in: PageFrame(account: .open)))
  }

  @Test func `the landing page lists the articles with their abstracts`() throws {
    let page = try Self.html(Self.manual.landingPage)
    #expect(page.violations == [])
    #expect(page.all("h2").map(\.text) == ["Overview", "First", "Reference"])
    #expect(page.all("a").contains { $0.attributes["href"] == "/docs/some" && $0.text == "Some article" })
    #expect(page.all("li").first?.text.contains("Its abstract.") == true)
    #expect(Self.manual.page("some") != nil)
    #expect(Self.manual.page("landing") == nil)
  }

  @Test func `every kind of block has its elements`() throws {
    let page = try html(
      """
      ## A

      text `code` *em* **strong** [link](#a) <doc:Some>

      1. one

         two
      - x

      | a | | c |
      | --- | --- | --- |
      | 1 | 2 | 3 |

      ```
      <b> & "c"
        d
      ```
      """)
    #expect(page.violations == [])
    let names = Set(page.elements.filter { $0.ancestors.contains("article") }.map(\.name))
    #expect(
      names == [
        "h2", "p", "code", "em", "strong", "a", "ol", "ul", "li", "div", "table", "caption", "thead", "tbody",
        "tr", "th", "td", "pre",
      ])
    #expect(page.all("pre").map(\.text) == ["&lt;b&gt; &amp; &quot;c&quot;\n  d\n"])
    #expect(page.all("th").map(\.text) == ["a", "c"])
  }

  @Test func `whatever the text is, the page has no other elements and attributes`() throws {
    let pieces = [
      "<", ">", "&", "\"", "'", "`", "``", "```", "*", "**", "[", "](", ")", "#", "# ", "- ", "1. ", "|",
      "| --- |", "\\", "\n", "\n\n", "    ", "  ", "<script>", "<doc:Some>", "<doc:X>", "https://a", "#b",
      "word", "\u{301}", "\u{202E}", "{{x}}", "é", "-->",
    ]
    let known: Set<String> = [
      "h2", "h3", "h4", "p", "code", "em", "strong", "a", "ol", "ul", "li", "div", "table", "caption",
      "thead", "tbody", "tr", "th", "td", "pre",
    ]
    let attributes: Set<String> = ["id", "href", "class", "scope", "tabindex", "role", "aria-label"]
    // A linear congruential generator, so that failures can be repeated.
    var state: UInt64 = 18
    func random(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
    for _ in 0..<300 {
      let text = (0..<random(80)).map { _ in pieces[random(pieces.count)] }.joined()
      let page = try html(text)
      for element in page.elements where element.ancestors.contains("article") {
        #expect(known.contains(element.name), "\(text.debugDescription)")
        #expect(attributes.isSuperset(of: element.attributes.keys), "\(text.debugDescription)")
        if let target = element.attributes["href"] {
          #expect(
            target.hasPrefix("#") || target.hasPrefix("https://") || target == "/docs/some",
            "\(text.debugDescription)")
        }
      }
    }
  }

  @Test func `deep nesting ends`() throws {
    let list = (0..<100).map { String(repeating: "  ", count: $0) + "- x" }.joined(separator: "\n")
    let stars = String(repeating: "*a ", count: 200) + String(repeating: "b* ", count: 200)
    #expect(Markdown(list).blocks.count == 1)
    #expect(Markdown(stars).blocks.count == 1)
    #expect(try html(list).all("li").count == 8)
  }
}
