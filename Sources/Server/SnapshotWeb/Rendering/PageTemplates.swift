import Mustache

/// The templates of all pages, and the partials that they share.
struct PageTemplates: Sendable {
  /// The templates of complete pages, and of parts that are rendered separately.
  enum Name: String, CaseIterable {
    case home, deletion, report, snapshot, history, search, diff, link, attach, attachLink, attachLinks,
      webhooks,
      signIn, signedOut,
      problem, document
    /// The values of a file, without the page around them.
    case values
    /// The main part of the page that describes every call.
    case reference
  }

  private static let sources: [String: [UInt8]] = [
    "layout": PackageResources.layout_mustache,
    "name": PackageResources.name_mustache,
    "size": PackageResources.size_mustache,
    "time": PackageResources.time_mustache,
    "copy": PackageResources.copy_mustache,
    "chart": PackageResources.chart_mustache,
    "snapshots": PackageResources.snapshots_mustache,
    "change-row": PackageResources.change_row_mustache,
    "change-rows": PackageResources.change_rows_mustache,
    "change-lines": PackageResources.change_lines_mustache,
    "twins": PackageResources.twins_mustache,
    "nothing": PackageResources.nothing_mustache,
    "pager": PackageResources.pager_mustache,
    "clock": PackageResources.clock_mustache,
    "list": PackageResources.list_mustache,
    "list-row": PackageResources.list_row_mustache,
    "details": PackageResources.details_mustache,
    "other": PackageResources.other_mustache,
    "actions": PackageResources.actions_mustache,
    "changes": PackageResources.changes_mustache,
    "values-changed": PackageResources.values_changed_mustache,
    "comments": PackageResources.comments_mustache,
    "neighbours": PackageResources.neighbours_mustache,
    "history": PackageResources.history_mustache,
    "upload": PackageResources.upload_mustache,
    "webhooks": PackageResources.webhooks_mustache,
    "home": PackageResources.home_mustache,
    "deletion": PackageResources.deletion_mustache,
    "report": PackageResources.report_mustache,
    "snapshot": PackageResources.snapshot_mustache,
    "preview": PackageResources.preview_mustache,
    "search": PackageResources.search_mustache,
    "values": PackageResources.values_mustache,
    "value-line": PackageResources.value_line_mustache,
    "value-label": PackageResources.value_label_mustache,
    "value-mark": PackageResources.value_mark_mustache,
    "compared": PackageResources.compared_mustache,
    "value-items": PackageResources.value_items_mustache,
    "diff": PackageResources.diff_mustache,
    "link": PackageResources.link_mustache,
    "attach": PackageResources.attach_mustache,
    "attachLink": PackageResources.attach_link_mustache,
    "attachLinks": PackageResources.attach_links_mustache,
    "signIn": PackageResources.sign_in_mustache,
    "signedOut": PackageResources.signed_out_mustache,
    "problem": PackageResources.problem_mustache,
    "document": PackageResources.document_mustache,
    "reference": PackageResources.reference_mustache,
    "table": PackageResources.table_mustache,
    "spans": PackageResources.spans_mustache,
  ]

  private let library: MustacheLibrary
  private let pages: [Name: MustacheTemplate]

  /// A page's template is missing.
  struct Missing: Error {
    let page: Name
  }

  /// Parses all templates.
  init() throws {
    MustacheContentTypes.register(PageContentType(), named: PageContentType.name)
    var library = MustacheLibrary()
    for (name, source) in Self.sources {
      try library.register(Self.template(String(decoding: source, as: UTF8.self)), named: name)
    }
    self.library = library
    pages = try Name.allCases.reduce(into: [:]) { pages, page in
      guard let template = library.getTemplate(named: page.rawValue) else { throw Missing(page: page) }
      pages[page] = template
    }
  }

  /// Parses a template. The content type is set at the start of each one, because a partial without it would use the
  /// library's own escaping.
  static func template(_ source: String) throws -> MustacheTemplate {
    let source = source.hasSuffix("\n") ? String(source.dropLast()) : source
    return try MustacheTemplate(string: "{{% CONTENT_TYPE: \(PageContentType.name) }}" + source)
  }

  /// Returns the HTML of a page.
  func html(_ page: Name, _ fields: Fields) -> String { pages[page]?.render(fields, library: library) ?? "" }
}
