import SnapshotAPI

/// The lines of a JSON document for the template `preview`. Each line has its opening and closing brackets, so that
/// they are balanced even if lines are missing.
struct JSONTree {
  /// The maximum nesting depth in the page. Deeper lines are shown at this depth.
  private static let deepest = 40
  /// In documents with more lines than this, containers below ``foldedDepth`` are collapsed.
  private static let unfoldedLines = 120
  private static let foldedDepth = 2
  /// The maximum size of a key, and of a text, in the page, in bytes.
  private static let key = 400
  private static let text = 4000

  private(set) var lines: [Fields] = []
  /// Whether the lines are the whole document.
  private(set) var isWhole = true

  init(_ document: [JSONLine], _ budget: inout PageBudget) {
    /// The closing brackets of the open containers.
    var open: [String] = []
    let isLong = document.count > Self.unfoldedLines
    for (index, line) in document.enumerated() {
      guard index < PageLimits.lines, budget.take(90) else {
        isWhole = false
        break
      }
      close(&open, to: min(max(line.depth, 0), Self.deepest))
      var fields = Self.fields(of: line, &budget)
      if let brackets = line.value.brackets {
        let isEmpty = line.value.count == 0 || open.count >= Self.deepest
        let next = index + 1 < document.count ? document[index + 1].depth : 0
        if isEmpty || next <= line.depth {
          fields["leaf"] = brackets.open + (line.value.count == 0 ? "" : "…") + brackets.close
          fields["kind"] = "punctuation"
        } else {
          _ = budget.take(60)
          fields["container"] = brackets.open
          fields["isOpen"] = !isLong || open.count < Self.foldedDepth
          fields["count"] = line.value.count.map { Measures.count($0, brackets.noun) }
          open.append(brackets.close)
        }
      }
      lines.append(fields)
    }
    close(&open, to: 0)
  }

  /// Adds closing brackets to the last line until `depth` containers are open.
  private mutating func close(_ open: inout [String], to depth: Int) {
    guard open.count > depth, let last = lines.indices.last else { return }
    lines[last]["ends"] = open[depth...].reversed().map { ["bracket": $0] as Fields }
    open.removeSubrange(depth...)
  }

  private static func fields(of line: JSONLine, _ budget: inout PageBudget) -> Fields {
    var fields: Fields = [
      "key": line.key.map { cut($0, to: key, &budget) }, "container": nil, "leaf": nil, "kind": nil,
      "isOpen": nil,
      "count": nil, "ends": nil, "isCut": nil,
    ]
    switch line.value {
    case .object, .array: break
    case .string(let text, let isCut):
      let shown = PageText.cut(text, to: min(Self.text, budget.left))
      _ = budget.take(shown.length)
      fields["leaf"] = "\"\(shown.text)\(isCut && shown.isWhole ? "…" : "")\""
      fields["kind"] = "string"
    case .number(let text):
      fields["leaf"] = cut(text, to: Self.text, &budget)
      fields["kind"] = "number"
    case .literal(let text):
      fields["leaf"] = cut(text, to: key, &budget)
      fields["kind"] = "literal"
    case .omitted(let count):
      fields["leaf"] = count.map { "… \(Measures.number($0)) more" } ?? "… more"
      fields["kind"] = "omitted"
    }
    return fields
  }

  private static func cut(_ text: String, to limit: Int, _ budget: inout PageBudget) -> String {
    let shown = PageText.cut(text, to: min(limit, budget.left))
    _ = budget.take(shown.length)
    return shown.text
  }
}

extension JSONLine.Value {
  fileprivate var brackets: (open: String, close: String, noun: String)? {
    switch self {
    case .object: ("{", "}", "key")
    case .array: ("[", "]", "item")
    case .string, .number, .literal, .omitted: nil
    }
  }

  fileprivate var count: Int? {
    switch self {
    case .object(let count), .array(let count): count
    case .string, .number, .literal, .omitted: nil
    }
  }
}
