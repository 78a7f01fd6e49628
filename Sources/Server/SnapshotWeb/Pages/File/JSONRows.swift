import JSONText
import SnapshotFormat
import SnapshotViewer

/// The rows of the template `values`: a JSON value with the values in it, in document order.
struct JSONRows {
  /// The rows.
  private(set) var rows: [Fields] = []
  /// Whether ``PageBudget`` sufficed for all rows.
  private(set) var isComplete = true

  private let links: FileLinks
  /// The number of bytes of the links of a row that ``rowLength`` does not contain.
  private let linkLength: Int
  /// The match that is marked.
  private let hit: FilePreview.Hit?
  /// The differences from another snapshot, and the name of that.
  private let marks: ValueMarks?
  private let other: String
  /// The numbers of bytes of a key and of a text at which they are cut off.
  private static let keyLength = 400
  private static let textLength = 600
  /// The number of bytes at which the other value is cut off.
  private static let otherLength = 200
  /// The number of bytes at which base64 is cut off that has a link to its contents.
  private static let base64Length = 160
  /// The approximate number of bytes of a row without its texts.
  private static let rowLength = 220
  /// The approximate number of bytes of a mark without its text.
  private static let markLength = 90

  /// Makes the rows of `outline`. With `isPart`, only those of its contents.
  init(_ outline: JSONOutline, _ links: FileLinks, isPart: Bool, _ budget: inout PageBudget) {
    self.links = links
    linkLength = 3 * links.length
    hit = links.page.preview.hit
    marks = links.page.comparison?.marks
    other = links.page.nameOfOther
    if isPart, let contents = outline.root.contents {
      add(contents, of: outline.root.child, isPart: true, &budget)
    } else {
      add(outline.root, isInArray: false, &budget)
    }
  }

  private mutating func add(_ node: JSONOutline.Node, isInArray: Bool, _ budget: inout PageBudget) {
    guard isComplete, budget.take(Self.rowLength + linkLength + 2 * node.child.place.path.pointer.utf8.count)
    else {
      isComplete = false
      return
    }
    var fields = label(node.child, isInArray: isInArray, &budget)
    switch node.child.value {
    case .string(let text, let isCut):
      let encoded = encodedText(node.child, text, isCut: isCut)
      let isBase64 = if let encoded, encoded.coding != .text { true } else { false }
      let length = min(isBase64 ? Self.base64Length : Self.textLength, budget.left)
      let shown = PageText.cut(PageText.inline(text), to: length)
      _ = budget.take(shown.length)
      fields["text"] = "\"\(shown.text)\""
      fields["kind"] = "string"
      fields["whole"] = isCut || !shown.isWhole ? fields["href"] : nil
      if let encoded, let link = links.decoded(node.child.place.path, encoded),
        budget.take(100 + link.href.utf8.count)
      {
        fields["decode"] = ["href": link.href, "text": link.text] as Fields
      }
      rows.append(Self.row("leaf", fields))
    case .number(let text, let isCut):
      fields["text"] = cut(text, to: Self.textLength, &budget) + (isCut ? "…" : "")
      fields["kind"] = "number"
      rows.append(Self.row("leaf", fields))
    case .literal(let text):
      fields["text"] = text
      fields["kind"] = "literal"
      rows.append(Self.row("leaf", fields))
    case .object(let preview): add(node, fields, preview, "{", "}", "key", &budget)
    case .array(let preview): add(node, fields, preview, "[", "]", "item", &budget)
    }
  }

  private mutating func add(
    _ node: JSONOutline.Node, _ label: Fields, _ preview: JSONPreview, _ open: String, _ close: String,
    _ noun: String, _ budget: inout PageBudget
  ) {
    var fields = label
    (fields["open"], fields["close"]) = (open, close)
    fields["count"] = Measures.count(preview.count, noun)
    if let contents = node.contents, preview.count > 0 {
      rows.append(Self.row("container", fields))
      add(contents, of: node.child, &budget)
      rows.append(Self.row("end", ["close": close]))
    } else {
      var marked: Set<Int> = []
      if preview.isShort, case .changed(let counterpart) = marks?.marks[node.child.place] {
        marked = differing(node.child, counterpart)?.own ?? []
      }
      fields["items"] = Self.items(preview, marking: marked, &budget)
      if let link = links.object(preview), budget.take(60 + link.utf8.count) {
        fields["decode"] = ["href": link, "text": "Show object"] as Fields
      }
      if preview.isShort {
        rows.append(Self.row("inline", fields))
      } else {
        fields["hasMore"] = preview.count > preview.items.count
        fields["part"] = node.child.isKeyCut ? nil : links.part(node.child.place.path, from: 0)
        rows.append(Self.row("closed", fields))
      }
    }
  }

  private mutating func add(
    _ contents: JSONOutline.Contents, of child: JSONChild, isPart: Bool = false, _ budget: inout PageBudget
  ) {
    let isArray = if case .array = child.value { true } else { false }
    // A part follows the children before it.
    if contents.from > 0, !isPart {
      rows.append(Self.row("more", more(child, from: 0, count: contents.from, "before")))
    }
    for node in contents.nodes { add(node, isInArray: isArray, &budget) }
    if let missing = marks?.missing[child.place] { add(missing, isInArray: isArray, &budget) }
    if contents.rest > 0 {
      let next = contents.from + contents.nodes.count
      rows.append(Self.row("more", more(child, from: next, count: contents.rest, "more")))
    }
  }

  /// Adds the values that only the other snapshot has.
  private mutating func add(_ missing: ValueMarks.Missing, isInArray: Bool, _ budget: inout PageBudget) {
    var left = missing.count
    for child in missing.children where budget.take(Self.rowLength) {
      var fields = otherValue(child, &budget)
      fields["key"] = child.key.map { cut(PageText.inline($0), to: Self.keyLength, &budget) }
      fields["index"] = isInArray ? "\(child.place.index)" : nil
      rows.append(Self.row("gone", fields))
      left -= 1
    }
    guard left > 0 else { return }
    let word = left < missing.count ? "more " : ""
    rows.append(
      Self.row(
        "gone",
        [
          "text": Measures.count(left, word + "value"), "kind": "note", "key": nil, "index": nil,
          "items": nil, "other": other,
        ]))
  }

  /// A value of the other snapshot.
  /// - Parameter shown: the indices of the only shown items of a container.
  private func otherValue(
    _ child: JSONChild, only shown: Set<Int>? = nil, _ budget: inout PageBudget
  ) -> Fields {
    var fields: Fields = [
      "text": nil, "kind": nil, "items": nil, "open": nil, "close": nil, "hasMore": nil, "other": other,
      "key": nil,
    ]
    func show(_ text: String, _ kind: String) {
      fields["text"] = text
      fields["kind"] = kind
    }
    switch child.value {
    case .string(let text, let isCut):
      show("\"\(cut(PageText.inline(text), to: Self.otherLength, &budget))\(isCut ? "…" : "")\"", "string")
    case .number(let text, let isCut):
      show(cut(text, to: Self.otherLength, &budget) + (isCut ? "…" : ""), "number")
    case .literal(let text): show(text, "literal")
    case .object(let preview), .array(let preview):
      let isObject = if case .object = child.value { true } else { false }
      (fields["open"], fields["close"]) = (isObject ? "{" : "[", isObject ? "}" : "]")
      fields["items"] = Self.items(preview, only: shown, &budget)
      fields["hasMore"] = preview.count > (shown?.count ?? preview.items.count)
    }
    return fields
  }

  /// Adds the difference of a value to the values of its row.
  private func mark(_ child: JSONChild, _ fields: inout Fields, _ budget: inout PageBudget) {
    guard let mark = marks?.marks[child.place] else { return }
    _ = budget.take(Self.markLength)
    switch mark {
    case .changed(let counterpart):
      let other = differing(child, counterpart)?.other
      // Otherwise, the items are marked that differ.
      fields["isMarked"] = other == nil
      fields["was"] = otherValue(counterpart, only: other, &budget)
    case .added: fields["isAdded"] = true
    case .inside(let count):
      fields["inside"] = ["text": count.map { Measures.count($0, "change") } ?? "changes"] as Fields
    }
  }

  /// The indices of the items that differ in the previews of two short containers, and of the others' counterparts;
  /// `nil` if they do not correspond.
  private func differing(_ child: JSONChild, _ counterpart: JSONChild) -> (own: Set<Int>, other: Set<Int>)? {
    guard let own = child.value.preview?.items, let other = counterpart.value.preview?.items,
      own.first?.key != nil && other.first?.key != nil
        || own.count == other.count && own.first?.key == nil && other.first?.key == nil
    else { return nil }
    return (
      Set(own.indices.filter { !other.contains(own[$0], at: $0) }),
      Set(other.indices.filter { !own.contains(other[$0], at: $0) })
    )
  }

  /// A row of one kind. All other kinds are set to nothing, so that the template does not find fields around the row.
  private static func row(_ kind: String, _ fields: Fields) -> Fields {
    var row: Fields = [
      "container": nil, "closed": nil, "leaf": nil, "inline": nil, "more": nil, "end": nil, "gone": nil,
    ]
    row[kind] = fields
    return row
  }

  /// The link to children that are not shown.
  private func more(_ child: JSONChild, from: Int, count: Int, _ word: String) -> Fields {
    let path = child.place.path
    return [
      "text": "\(Measures.number(count)) \(word)", "href": links.tree(path, from: from),
      "part": word == "more" ? links.part(path, from: from) : nil,
    ]
  }

  /// The contents of a string that are shown decoded.
  private func encodedText(_ child: JSONChild, _ text: String, isCut: Bool) -> EncodedText? {
    // The path of a duplicate key is that of another value.
    guard links.page.selection.decode == nil, !child.isKeyCut, !child.isDuplicate else { return nil }
    return EncodedText(text, isCut: isCut, isData: child.type == .data)
  }

  private func label(_ child: JSONChild, isInArray: Bool, _ budget: inout PageBudget) -> Fields {
    let path = child.place.path
    let pointer = path.pointer
    let isHit =
      if case .value(path, child.place.index) = hit?.place { true } else { false }
    var fields: Fields = [
      "line": child.place.line + 1,
      "id": pointer.isEmpty || pointer.utf8.contains(0x20) || child.isKeyCut || child.isDuplicate
        ? nil : pointer,
      "href": child.isKeyCut ? nil : links.tree(path, from: 0),
      "key": child.key.map { cut(PageText.inline($0), to: Self.keyLength, &budget) },
      "index": isInArray ? "\(child.place.index)" : nil, "isDuplicate": child.isDuplicate,
      "text": nil, "kind": nil, "whole": nil, "open": nil, "close": nil, "count": nil, "items": nil,
      "hasMore": nil, "part": nil, "decode": nil, "type": child.type?.name, "isHit": isHit,
      "isMarked": nil, "isAdded": nil, "was": nil, "inside": nil, "other": other,
    ]
    mark(child, &fields, &budget)
    return fields
  }

  /// The values of the template `value-items`.
  private static func items(
    _ preview: JSONPreview, only shown: Set<Int>? = nil, marking marked: Set<Int> = [],
    _ budget: inout PageBudget
  ) -> [Fields] {
    var items: [Fields] = []
    for (index, item) in preview.items.enumerated() where shown?.contains(index) ?? true {
      let text = PageText.cut(text(of: item), to: 200)
      let key = item.key.map { PageText.cut($0, to: 100) }
      guard budget.take(60 + text.length + (key?.length ?? 0)) else { break }
      items.append([
        "comma": !items.isEmpty, "key": key?.text, "text": text.text, "kind": item.kind.rawValue,
        "isMarked": marked.contains(index),
      ])
    }
    return items
  }

  /// The values of one item without its key.
  static func item(_ item: JSONPreview.Item) -> Fields {
    ["text": PageText.cut(text(of: item), to: 200).text, "kind": item.kind.rawValue]
  }

  private static func text(of item: JSONPreview.Item) -> String {
    let text = PageText.inline(item.text) + (item.isCut ? "…" : "")
    return item.kind == .string ? "\"\(text)\"" : text
  }

  private func cut(_ text: String, to limit: Int, _ budget: inout PageBudget) -> String {
    let shown = PageText.cut(text, to: min(limit, budget.left))
    _ = budget.take(shown.length)
    return shown.text
  }
}

extension [JSONPreview.Item] {
  /// Whether there is an equal item with the same key, or without keys at the same index.
  fileprivate func contains(_ item: JSONPreview.Item, at index: Int) -> Bool {
    guard item.key == nil else { return contains(item) }
    return indices.contains(index) && self[index] == item
  }
}

/// The links of a file's page to other parts of the file.
struct FileLinks {
  var page: PreviewPage

  /// The number of bytes of a link beyond those of usual ones, which have a short path and decode nothing.
  var length: Int { max(0, path(page.selection.showing("")).utf8.count - 100) }

  func path(_ selection: FileSelection) -> String {
    PagePath.preview(page.record.id, file: page.path, selection).description
  }

  /// The page of a value in the tree.
  func tree(_ path: JSONPath, from: Int) -> String {
    self.path(page.selection.showing(path.pointer, from: from))
  }

  /// The page of a match, at the match.
  func hit(_ number: Int) -> String { path(page.selection.showing(hit: number)) + "#hit" }

  /// The page of the decoded contents of a string; `nil` in such contents.
  func decoded(_ path: JSONPath, _ encoded: EncodedText) -> (href: String, text: String)? {
    guard page.selection.decode == nil else { return nil }
    let name =
      switch encoded.content {
      case .json: "JSON"
      case .image: "image"
      case .propertyList: "property list"
      case .bytes: "bytes"
      }
    return (self.path(page.selection.decoding(path.pointer)), "Show as \(name)")
  }

  /// The page of the object in a keyed archive for which a value with a UID stands; `nil` for other values.
  func object(_ preview: JSONPreview) -> String? {
    guard page.preview.isKeyedArchive, preview.count == 1, let item = preview.items.first,
      item.key == "CF$UID", let index = Int(item.text)
    else { return nil }
    return tree(JSONPath([.key("$objects"), .index(index)]), from: 0)
  }

  /// The values in a container, without the page around them.
  func part(_ path: JSONPath, from: Int) -> String {
    var selection = page.selection.showing(path.pointer, from: from)
    selection.isPart = true
    return self.path(selection)
  }
}

extension PropertyListType {
  fileprivate var name: String {
    switch self {
    case .number: "number"
    case .date: "date"
    case .data: "data"
    case .set: "set"
    }
  }
}
