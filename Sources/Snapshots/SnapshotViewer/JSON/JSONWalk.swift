import JSONText

/// Passes over the children of one container, in order.
struct JSONWalk {
  /// A child whose value begins with the token that was read last.
  struct Child {
    let index: Int
    /// The kept bytes of the key.
    let key: [UInt8]?
    /// Whether ``key`` is only the beginning of the key.
    let isKeyCut: Bool
    /// The offset of the value.
    let offset: Int
    let line: Int
    fileprivate let token: JSONTokenizer.Token
  }

  /// Whether the container is an object; `nil` if the value is not a container.
  let isObject: Bool?
  private var reader: JSONReader
  private let isSequence: Bool
  private let view: JSONView
  private let container: JSONIndex.Container?
  private let textLength: Int
  private var index = 0
  private var line: Int

  /// Starts before the first child of the value at `place`.
  /// - Parameter length: the number of bytes of each text that are kept.
  init(_ view: JSONView, _ place: JSONPlace, keepingText length: Int = 0) throws(ViewerError) {
    self.view = view
    textLength = length
    isSequence = place.isSequence
    container = view.index.container(at: place.offset)
    line = place.isSequence ? 0 : place.line + 1
    let start = place.isSequence ? view.index.start : place.offset
    reader = JSONReader(view.bytes, from: start, .value, textLength: length)
    guard !place.isSequence else {
      isObject = false
      return
    }
    switch try reader.token() {
    case .beginObject: isObject = true
    case .beginArray: isObject = false
    default: isObject = nil
    }
  }

  /// Skips most of the children before the child `index`.
  mutating func advance(to index: Int) throws(ViewerError) {
    guard let container, let mark = view.index.mark(in: container, atOrBefore: index) else { return }
    self.index = Int(mark.index)
    line = Int(mark.line)
    reader = JSONReader(
      view.bytes, from: Int(mark.offset), isSequence ? .value : .child(isObject: container.isObject),
      textLength: textLength)
  }

  /// The next child, or `nil` at the end. Its value must be read before the next call, by ``pass(_:)`` or
  /// ``value(_:)``.
  mutating func next() throws(ViewerError) -> Child? {
    guard var token = try reader.token() else { return nil }
    var key: [UInt8]?
    var isKeyCut = false
    if token == .key {
      (key, isKeyCut) = (reader.tokenizer.text, reader.isTextCut)
      guard let value = try reader.token() else { throw .changed }
      token = value
    } else if token == .endObject || token == .endArray {
      return nil
    }
    return Child(
      index: index, key: key, isKeyCut: isKeyCut, offset: reader.tokenizer.range.lowerBound, line: line,
      token: token)
  }

  /// Passes over the value of `child`.
  mutating func pass(_ child: Child) throws(ViewerError) {
    index += 1
    line += try view.pass(child.token, &reader, in: parent)
  }

  /// Reads the value of `child`.
  mutating func value(_ child: Child) throws(ViewerError) -> JSONChild.Value {
    let value = try view.value(child.token, &reader, in: parent)
    index += 1
    line += value.lines
    return value
  }

  /// The container in which the reader continues behind a child: whether it is an object; `nil` for a sequence.
  private var parent: Bool? { isSequence ? nil : isObject }
}
