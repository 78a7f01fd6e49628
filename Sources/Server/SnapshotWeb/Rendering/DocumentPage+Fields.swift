extension DocumentPage {
  var title: String { heading.plainText }

  var fields: Fields {
    var text = DocumentText(titles: titles, section: title)
    return [
      "home": PagePath.home().description,
      "documentation": isLanding ? nil : PagePath.documentation.description,
      "heading": ["spans": text.fields(heading)] as Fields,
      "lead": lead.isEmpty ? nil : ["spans": text.fields(lead)] as Fields,
      "contents": contents.isEmpty
        ? nil : ["entries": contents.map { ["id": $0.id, "text": $0.text] as Fields }] as Fields,
      "blocks": text.fields(blocks),
    ]
  }
}

/// The values of the templates `blocks` and `spans`. All texts are escaped by the templates, so that none is markup.
private struct DocumentText {
  /// The number of columns from which on a table does not fit on a phone.
  private static let wideColumns = 3

  /// The titles of the articles that links refer to.
  let titles: [String: [Markdown.Span]]
  /// The last heading, which describes the tables below it. Headings of the fourth level are repeated in an article, so
  /// they follow the heading above them.
  var section: String
  private var chapter = ""

  init(titles: [String: [Markdown.Span]], section: String) { (self.titles, self.section) = (titles, section) }

  mutating func fields(_ blocks: [Markdown.Block]) -> [Fields] { blocks.map { fields($0) } }

  private mutating func fields(_ block: Markdown.Block) -> Fields {
    // A name without a value would be looked up in the block around this one.
    var fields: Fields = [
      "h2": nil, "h3": nil, "h4": nil, "paragraph": nil, "plain": nil, "bullets": nil, "numbers": nil,
      "table": nil, "code": nil,
    ]
    switch block {
    case .heading(let level, let id, let spans):
      if level < 4 { chapter = spans.plainText }
      section = level < 4 ? chapter : "\(chapter): \(spans.plainText)"
      fields["h\(min(max(level, 2), 4))"] = ["id": id, "spans": self.fields(spans)] as Fields
    case .paragraph(let spans): fields["paragraph"] = ["spans": self.fields(spans)] as Fields
    case .list(let isOrdered, let items):
      fields[isOrdered ? "numbers" : "bullets"] = ["items": items.map { item($0) }] as Fields
    case .table(let header, let rows): fields["table"] = table(header, rows)
    case .code(let lines): fields["code"] = ["lines": lines.map { ["line": $0] as Fields }] as Fields
    }
    return fields
  }

  /// Returns the values of an item. Its first paragraph has no space around it.
  private mutating func item(_ blocks: [Markdown.Block]) -> Fields {
    var item = fields(blocks)
    if case .paragraph = blocks.first {
      item[0]["plain"] = item[0]["paragraph"]
      item[0]["paragraph"] = nil
    }
    return ["blocks": item]
  }

  private func table(_ header: [[Markdown.Span]], _ rows: [[[Markdown.Span]]]) -> Fields {
    func cell(_ spans: [Markdown.Span]) -> Fields {
      ["isEmpty": spans.isEmpty, "spans": fields(spans)]
    }
    return [
      "caption": section, "isWide": header.count >= Self.wideColumns, "header": header.map(cell),
      "rows": rows.map { ["cells": $0.map(cell)] as Fields },
    ]
  }

  func fields(_ spans: [Markdown.Span]) -> [Fields] { spans.map { fields($0) } }

  private func fields(_ span: Markdown.Span) -> Fields {
    var fields: Fields = ["text": nil, "code": nil, "emphasis": nil, "strong": nil, "link": nil]
    switch span {
    case .text(let text): fields["text"] = text
    case .code(let text): fields["code"] = text
    case .emphasis(let spans): fields["emphasis"] = ["spans": self.fields(spans)] as Fields
    case .strong(let spans): fields["strong"] = ["spans": self.fields(spans)] as Fields
    case .link(let spans, let target):
      fields["link"] = ["href": target, "spans": self.fields(spans)] as Fields
    case .article(let file):
      let name = file.lowercased()
      if let title = titles[name] {
        fields["link"] =
          ["href": PagePath.article(name).description, "spans": self.fields(title)] as Fields
      } else {
        fields["text"] = file
      }
    }
    return fields
  }
}
