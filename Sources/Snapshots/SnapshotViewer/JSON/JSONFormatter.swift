import JSONText

/// A range of the lines of a document that is formatted with one value in each line.
package struct JSONFormatted: Sendable {
  /// A line.
  package struct Line: Sendable, Hashable {
    /// The number of containers around the value.
    package let depth: Int
    /// The text without the indentation.
    package let text: String
  }

  /// Limits of a page.
  package struct Limits: Sendable, Hashable {
    /// The maximum number of lines.
    package var lines = 1000
    /// The maximum number of bytes of a key or value.
    package var text = 4096

    /// Creates limits with the default values.
    package init() {}
  }

  /// The lines.
  package let lines: [Line]
  /// The number of the first of them, from 0.
  package let from: Int

  /// Formats lines from number `from` on.
  package init(_ view: JSONView, from: Int, limits: Limits = Limits()) throws(ViewerError) {
    var writer = Writer(view, from: from, limits: limits)
    try writer.run()
    (lines, self.from) = (writer.lines, from)
  }

  private struct Writer {
    /// A container that has not ended.
    private struct Level {
      let isObject: Bool
      var isEmpty = true
    }

    private let view: JSONView
    private let from: Int
    private let limits: Limits
    private(set) var lines: [Line] = []
    private var cursor: JSONCursor
    private var levels: [Level] = []
    private var line = 0
    private var text = ""

    init(_ view: JSONView, from: Int, limits: Limits) {
      (self.view, self.from, self.limits) = (view, from, limits)
      cursor = JSONCursor(view, view.root, textLength: limits.text, keepsEscapes: true)
    }

    mutating func run() throws(ViewerError) {
      advance()
      while lines.count < limits.lines, let token = try cursor.token() {
        switch token {
        case .key:
          separate()
          text = "\"\(shown)\": "
        case .beginObject, .beginArray:
          if levels.last?.isObject != true { separate() }
          let isObject = token == .beginObject
          // Large containers before the first line are passed over.
          if let container = cursor.container, Int(container.endLine) <= from {
            line = Int(container.endLine)
            text = ""
            try cursor.leave()
            continue
          }
          add((isObject ? "{" : "["))
          levels.append(Level(isObject: isObject))
          advance()
        case .endObject, .endArray:
          guard let level = levels.popLast() else { throw .changed }
          let bracket = level.isObject ? "}" : "]"
          if level.isEmpty { extend(bracket) } else { add(bracket) }
        case .string:
          if levels.last?.isObject != true { separate() }
          add("\"\(shown)\"")
        case .number:
          if levels.last?.isObject != true { separate() }
          add(shown)
        case .boolean(let value):
          if levels.last?.isObject != true { separate() }
          add(value ? "true" : "false")
        case .null:
          if levels.last?.isObject != true { separate() }
          add("null")
        }
      }
    }

    private var shown: String { cursor.reader.text + (cursor.reader.isTextCut ? "…" : "") }

    /// Passes over the children of the innermost container before the first line, as far as their places are known.
    private mutating func advance() {
      guard line < from, let container = cursor.container,
        let mark = view.index.lastMark(in: container, where: { Int($0.line) <= from })
      else { return }
      cursor.move(to: mark)
      line = Int(mark.line)
      if !levels.isEmpty { levels[levels.count - 1].isEmpty = false }
    }

    /// Ends the line before a child.
    private mutating func separate() {
      guard let level = levels.last else { return }
      if !level.isEmpty { extend(",") }
      levels[levels.count - 1].isEmpty = false
    }

    private mutating func add(_ value: String) {
      if line >= from { lines.append(Line(depth: levels.count, text: text + value)) }
      text = ""
      line += 1
    }

    private mutating func extend(_ more: String) {
      guard let last = lines.last else { return }
      lines[lines.count - 1] = Line(depth: last.depth, text: last.text + more)
    }
  }
}
