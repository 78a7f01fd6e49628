package import JSONText

extension JSONIndex {
  /// The outcome of indexing.
  package enum Outcome: Sendable {
    case index(JSONIndex)
    /// The document is not valid JSON.
    case invalid(JSONFailure)
    /// The document has more bytes than ``Limits/size``.
    case tooLarge
  }

  /// Reads a whole document and makes its index. Several documents are accepted if the first is an object or an array.
  package static func of(_ bytes: ViewedBytes, limits: Limits = Limits()) throws(ViewerError) -> Outcome {
    guard bytes.size <= limits.size, bytes.size < Int(Int32.max) else { return .tooLarge }
    var indexer = JSONIndexer(limits: limits)
    var offset = 0
    while true {
      let piece = try bytes.read(upTo: 128 << 10, at: offset)
      offset += piece.count
      do {
        if try indexer.take(piece) { return .index(indexer.index(size: bytes.size)) }
      } catch {
        return .invalid(error)
      }
    }
  }
}

/// Makes an index while it reads a document.
struct JSONIndexer {
  /// A container that has not ended.
  private struct Open {
    let start: Int32
    let isObject: Bool
    let line: Int32
    var count: Int32 = 0
    /// The offset of the last place that was marked, or the start.
    var marked: Int32
  }

  private let limits: JSONIndex.Limits
  private var spacing: Int32
  private var tokenizer: JSONTokenizer
  private var open: [Open] = []
  private var containers: [JSONIndex.Container] = []
  private var marks: [JSONIndex.Mark] = []
  private var line: Int32 = 0
  private var start = 0
  /// Whether more documents may follow the first one.
  private var mayContinue = false

  init(limits: JSONIndex.Limits) {
    self.limits = limits
    spacing = Int32(limits.spacing)
    var configuration = JSONTokenizer.Configuration()
    configuration.textLength = 0
    configuration.allowsSequence = true
    tokenizer = JSONTokenizer(configuration)
    // All documents, which are one container if there are several.
    open = [Open(start: -1, isObject: false, line: 0, marked: 0)]
  }

  /// Reads the next bytes; an empty piece is the end. Returns whether the document is complete.
  mutating func take(_ piece: [UInt8]) throws(JSONFailure) -> Bool {
    if piece.isEmpty { tokenizer.finish() } else { tokenizer.feed(piece) }
    while let token = try tokenizer.next() {
      switch token {
      case .key: try mark()
      case .beginObject: try begin(isObject: true)
      case .beginArray: try begin(isObject: false)
      case .endObject, .endArray: end()
      case .string, .number, .boolean, .null:
        if !isInObject { try mark() }
        line += 1
      }
    }
    if piece.isEmpty, open[0].count == 0 { throw tokenizer.failure }
    return piece.isEmpty
  }

  private var isInObject: Bool { open[open.count - 1].isObject }

  /// Counts a child of the innermost container that begins with the last token.
  private mutating func mark(isContainer: Bool = false) throws(JSONFailure) {
    let offset = Int32(tokenizer.range.lowerBound)
    let last = open.count - 1
    if last == 0, open[0].count == 0 {
      (start, mayContinue) = (Int(offset), isContainer)
    } else if last == 0, !mayContinue, !tokenizer.isSeparated {
      // Words and numbers in a row are text rather than JSON Lines.
      throw tokenizer.failure
    }
    if offset - open[last].marked >= spacing {
      open[last].marked = offset
      marks.append(.init(owner: open[last].start, offset: offset, index: open[last].count, line: line))
      if marks.count >= limits.entries { thin() }
    }
    open[last].count += 1
  }

  private mutating func begin(isObject: Bool) throws(JSONFailure) {
    if !isInObject { try mark(isContainer: true) }
    let offset = Int32(tokenizer.range.lowerBound)
    open.append(Open(start: offset, isObject: isObject, line: line, marked: offset))
    line += 1
  }

  private mutating func end() {
    let container = open.removeLast()
    // An empty container is one line.
    if container.count > 0 { line += 1 }
    add(container, end: Int32(tokenizer.range.upperBound))
  }

  private mutating func add(_ container: Open, end: Int32) {
    guard end - container.start >= spacing else { return }
    containers.append(
      .init(
        start: container.start, end: end, count: container.count, line: container.line, endLine: line,
        isObject: container.isObject))
    if containers.count >= limits.entries { thin() }
  }

  /// Doubles the spacing, and removes what is closer.
  private mutating func thin() {
    while spacing < Int32.max / 2, max(marks.count, containers.count) >= limits.entries {
      spacing *= 2
      containers.removeAll { $0.end - $0.start < spacing }
      var marked: [Int32: Int32] = [:]
      marks.removeAll { mark in
        guard mark.offset - marked[mark.owner, default: max(0, mark.owner)] >= spacing else { return true }
        marked[mark.owner] = mark.offset
        return false
      }
      for index in open.indices {
        open[index].marked = marked[open[index].start] ?? max(0, open[index].start)
      }
    }
  }

  /// The index, after the last byte.
  func index(size: Int) -> JSONIndex {
    let documents = Int(open[0].count)
    var containers = containers
    if documents > 1 {
      containers.append(
        .init(start: -1, end: Int32(size), count: open[0].count, line: 0, endLine: line, isObject: false))
    }
    containers.sort { $0.start < $1.start }
    let marks = marks.sorted { ($0.owner, $0.offset) < ($1.owner, $1.offset) }
    var first = 0
    for index in containers.indices {
      while first < marks.count, marks[first].owner < containers[index].start { first += 1 }
      var last = first
      while last < marks.count, marks[last].owner == containers[index].start { last += 1 }
      containers[index].marks = Int32(first)..<Int32(last)
      first = last
    }
    return JSONIndex(
      documents: documents, lines: Int(line), start: start, spacing: Int(spacing), containers: containers,
      marks: marks)
  }
}
