import JSONText

/// Reads the tokens of a document in order, and passes over parts whose places are in the index.
struct JSONCursor {
  private(set) var reader: JSONReader
  private let view: JSONView
  /// The containers that have begun and not ended; large ones with their places.
  private var open: [(isObject: Bool, container: JSONIndex.Container?)] = []
  /// The container of all documents of JSON Lines.
  private let sequence: JSONIndex.Container?

  /// Starts at the value at `place`.
  /// - Parameter textLength: the maximum number of bytes of one key, string or number that are kept.
  init(_ view: JSONView, _ place: JSONPlace, textLength: Int, keepsEscapes: Bool = false) {
    self.view = view
    sequence = place.isSequence ? view.index.container(at: place.offset) : nil
    reader = JSONReader(
      view.bytes, from: place.isSequence ? view.index.start : place.offset, .value, textLength: textLength,
      keepsEscapes: keepsEscapes)
  }

  /// The number of containers that have begun and not ended.
  var depth: Int { open.count }

  /// The innermost container, if it is large.
  var container: JSONIndex.Container? { open.isEmpty ? sequence : open[open.count - 1].container }

  /// The next token, or `nil` at the end of the document.
  mutating func token() throws(ViewerError) -> JSONTokenizer.Token? {
    guard let token = try reader.token() else { return nil }
    switch token {
    case .beginObject, .beginArray:
      let container = view.index.container(at: reader.tokenizer.range.lowerBound)
      open.append((token == .beginObject, container))
    case .endObject, .endArray:
      guard open.popLast() != nil else { throw .changed }
      // After a move, the reader knows only one container.
      if reader.tokenizer.depth == 0, let parent = open.last {
        reader.skip(to: reader.tokenizer.offset, in: parent.isObject)
      }
    case .key, .string, .number, .boolean, .null: break
    }
    return token
  }

  /// Continues at a child of the innermost container. Call it between two children.
  mutating func move(to mark: JSONIndex.Mark) {
    reader.move(to: Int(mark.offset), open.last.map { .child(isObject: $0.isObject) } ?? .value)
  }

  /// Continues behind the innermost container.
  mutating func leave() throws(ViewerError) {
    guard let (_, container) = open.last else { return }
    if let container {
      open.removeLast()
      reader.skip(to: Int(container.end), in: open.last?.isObject)
    } else {
      open.removeLast()
      try reader.skipContainer(in: open.last?.isObject)
    }
  }
}
