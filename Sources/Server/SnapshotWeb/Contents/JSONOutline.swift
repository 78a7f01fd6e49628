import JSONText
import SnapshotAPI
import SnapshotFormat

/// The part of a JSON document that a page shows, as much as it has space for: upper levels before lower ones, and the
/// first elements of each array. Reads the whole document, within the limits, but stores only the part to show.
struct JSONOutline {
  /// A value to show.
  private struct Row {
    var line: JSONLine
    /// The value's index in its container, and whether the container is an array.
    let index: Int
    let isElement: Bool
    let length: Int
  }

  /// A container whose values are being read.
  private struct Container {
    let isArray: Bool
    /// The container's index in `rows`, if it is shown.
    var row: Int?
    var count = 0
  }

  private let limits: FilePreview.Limits
  private var rows: [Row] = []
  private var length = 0
  private var open: [Container] = []
  private var key: String?

  /// The current limits for every container. They are reduced while the document turns out to be large.
  private var depth: Int
  private var members: Int
  private var elements: Int
  private var isFull = false

  private var bytes: Int64 = 0
  private var isReadWhole = false
  private var hasCutText = false
  private var tooDeep: Int?

  init(limits: FilePreview.Limits) {
    self.limits = limits
    depth = limits.depth
    members = limits.members
    elements = limits.elements
  }

  /// Reads a document. Returns the error if it is not valid JSON.
  mutating func read(_ head: FileHead) throws(BundleError) -> JSONFailure? {
    var configuration = JSONTokenizer.Configuration()
    configuration.textLength = limits.textLength
    configuration.keepsEscapes = true
    var tokenizer = JSONTokenizer(configuration)
    tokenizer.feed(head.bytes)
    bytes = Int64(head.bytes.count)
    while true {
      do throws(JSONFailure) {
        while let token = try tokenizer.next() { take(token, tokenizer) }
      } catch {
        guard case .depth(let most) = error.reason else { return error }
        tooDeep = most
        return nil
      }
      isReadWhole = tokenizer.isComplete
      if isReadWhole || bytes >= limits.bytes { return nil }
      if let piece = try head.more() {
        bytes += Int64(piece.count)
        tokenizer.feed(piece)
      } else {
        tokenizer.finish()
      }
    }
  }

  /// A sentence about why the document is not shown completely; `nil` if it is.
  var cut: String? {
    if let tooDeep { return "It is nested deeper than \(tooDeep) levels. Only the part before is shown." }
    if !isReadWhole { return "Only the first \(bytes) bytes were read." }
    let isCut = hasCutText || lines.contains { if case .omitted = $0.value { true } else { false } }
    return isCut ? "It is too large to be shown completely." : nil
  }

  /// The values to show, with a line for the omitted values of each container.
  var lines: [JSONLine] {
    var lines: [JSONLine] = []
    // The containers of the next line: their depth, the number of their values, and the number of shown ones.
    var around: [(depth: Int, count: Int?, shown: Int)] = []
    func leave(to depth: Int) {
      while let container = around.last, container.depth >= depth {
        around.removeLast()
        let omitted = container.count.map { $0 - container.shown }
        if omitted != 0 {
          lines.append(JSONLine(depth: container.depth + 1, .omitted(count: omitted)))
        }
      }
    }
    for row in rows {
      leave(to: row.line.depth)
      if !around.isEmpty { around[around.count - 1].shown += 1 }
      lines.append(row.line)
      switch row.line.value {
      case .object(let count), .array(let count): around.append((row.line.depth, count, 0))
      default: break
      }
    }
    leave(to: 0)
    return lines
  }
}

// MARK: - Reading

extension JSONOutline {
  private mutating func take(_ token: JSONTokenizer.Token, _ tokenizer: JSONTokenizer) {
    switch token {
    case .key:
      key = isNextShown ? Self.text(tokenizer) + (Self.isCut(tokenizer) ? "…" : "") : nil
    case .beginObject: begin(isArray: false)
    case .beginArray: begin(isArray: true)
    case .endObject, .endArray: end()
    case .string where isNextShown:
      let isCut = Self.isCut(tokenizer)
      add(.string(Self.text(tokenizer), isCut: isCut))
      hasCutText = hasCutText || isCut
    case .number where isNextShown:
      add(.number(Self.text(tokenizer) + (Self.isCut(tokenizer) ? "…" : "")))
    case .boolean(let value): add(.literal(value ? "true" : "false"))
    case .null: add(.literal("null"))
    case .string, .number: passOver()
    }
  }

  private static func isCut(_ tokenizer: JSONTokenizer) -> Bool {
    tokenizer.textLength > tokenizer.text.count
  }

  private static func text(_ tokenizer: JSONTokenizer) -> String {
    String(wholeCharactersOf: tokenizer.text[...])
  }

  /// Whether the next value of the innermost container is within the limits.
  private var isNextShown: Bool {
    guard let container = open.last else { return rows.isEmpty }
    return !isFull && container.row != nil && open.count < depth
      && container.count < (container.isArray ? elements : members)
  }

  private mutating func begin(isArray: Bool) {
    let row = add(isArray ? .array(count: nil) : .object(count: nil))
    open.append(Container(isArray: isArray, row: row))
  }

  private mutating func end() {
    guard let container = open.popLast(), let row = container.row else { return }
    rows[row].line.value =
      container.isArray ? .array(count: container.count) : .object(count: container.count)
  }

  /// Counts a value without showing it.
  private mutating func passOver() {
    if !open.isEmpty { open[open.count - 1].count += 1 }
    key = nil
  }

  /// Counts a value, and adds a row if it is within the limits. Returns the row's index, or `nil`.
  @discardableResult
  private mutating func add(_ value: JSONLine.Value) -> Int? {
    guard isNextShown else {
      passOver()
      return nil
    }
    let (index, isElement) = open.last.map { ($0.count, $0.isArray) } ?? (0, false)
    let line = JSONLine(depth: open.count, key: key, value)
    passOver()
    let row = Row(line: line, index: index, isElement: isElement, length: Self.length(of: line))
    rows.append(row)
    length += row.length
    // Shrinking can remove rows before this one. A temporary container keeps track of its index.
    open.append(Container(isArray: false, row: rows.count - 1))
    while length > limits.pageLength || rows.count > limits.lines, shrink() {}
    return open.removeLast().row
  }

  /// The approximate size of a line in the page, in bytes. For a container this includes the line for its omitted
  /// values.
  private static func length(of line: JSONLine) -> Int {
    let text: Int
    switch line.value {
    case .object, .array: text = 150
    case .string(let string, _): text = PageText.length(string)
    case .number(let digits): text = digits.utf8.count
    case .literal, .omitted: text = 5
    }
    return 90 + text + (line.key.map(PageText.length) ?? 0)
  }
}

// MARK: - Making room

extension JSONOutline {
  /// Reduces the limits for every container: first the elements, then the depth, then the members. Returns whether they
  /// can be reduced further.
  private mutating func shrink() -> Bool {
    if elements > 6 {
      elements /= 2
    } else if let deepest = rows.lazy.map(\.line.depth).max(), deepest > 1 {
      depth = deepest
    } else if members > 8 {
      members /= 2
    } else {
      isFull = true
      return false
    }
    removeHidden()
    return true
  }

  private mutating func removeHidden() {
    var kept: [Row] = []
    var places: [Int?] = []
    var hidden: Int?
    for row in rows {
      if let depth = hidden, row.line.depth > depth {
        places.append(nil)
        continue
      }
      hidden = nil
      if row.line.depth >= depth || row.line.depth > 0 && row.index >= (row.isElement ? elements : members) {
        hidden = row.line.depth
        places.append(nil)
      } else {
        places.append(kept.count)
        kept.append(row)
      }
    }
    rows = kept
    length = kept.reduce(0) { $0 + $1.length }
    for index in open.indices { open[index].row = open[index].row.flatMap { places[$0] } }
  }
}
