import Mustache
import Testing

@testable import SnapshotWeb

struct PageTemplatesTests {
  @Test func `a part of a page escapes as the page does`() throws {
    _ = try PageTemplates()
    var library = MustacheLibrary()
    library.register(try PageTemplates.template("<i title=\"{{text}}\">"), named: "part")
    let page = try PageTemplates.template("{{text}}{{#inner}}{{>part}}{{/inner}}")
    let fields: Fields = ["text": "\"\u{301}", "inner": ["text": "\"\u{301}"] as Fields]
    #expect(page.render(fields, library: library) == "&quot;\u{301}<i title=\"&quot;\u{301}\">")
  }

  @Test func `a field that is not given is not taken from further out`() throws {
    _ = try PageTemplates()
    let page = try PageTemplates.template("{{#inner}}{{#name}}{{.}}{{/name}}{{^name}}none{{/name}}{{/inner}}")
    #expect(page.render(["name": "outer", "inner": ["name": nil] as Fields] as Fields) == "none")
  }

  @Test func `no template takes text as it is, except for the HTML of the documentation`() throws {
    let sources = [
      PackageResources.layout_mustache, PackageResources.snapshot_mustache, PackageResources.diff_mustache,
      PackageResources.preview_mustache, PackageResources.home_mustache, PackageResources.snapshots_mustache,
      PackageResources.reference_mustache, PackageResources.table_mustache, PackageResources.spans_mustache,
    ]
    for source in sources {
      let text = String(decoding: source, as: UTF8.self)
      #expect(!text.contains("{{{") && !text.contains("{{&"))
    }
    let document = String(decoding: PackageResources.document_mustache, as: UTF8.self)
    #expect(document.replacing("{{{html}}}", with: "").contains("{{{") == false)
  }
}
