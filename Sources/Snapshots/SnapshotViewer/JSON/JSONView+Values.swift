import JSONText

extension JSONView {
  /// Reads the value that begins with `token`.
  /// - Parameter parent: whether the container around the value is an object; `nil` if there is none.
  func value(
    _ token: JSONTokenizer.Token, _ reader: inout JSONReader, in parent: Bool?
  ) throws(ViewerError) -> JSONChild.Value {
    switch token {
    case .string: return .string(reader.text, isCut: reader.isTextCut)
    case .number: return .number(reader.text, isCut: reader.isTextCut)
    case .boolean(let value): return .literal(value ? "true" : "false")
    case .null: return .literal("null")
    case .beginObject: return .object(try preview(isObject: true, &reader, in: parent))
    case .beginArray: return .array(try preview(isObject: false, &reader, in: parent))
    case .key, .endObject, .endArray: throw .changed
    }
  }

  /// Passes over the value that begins with `token`, and returns the number of its lines.
  func pass(
    _ token: JSONTokenizer.Token, _ reader: inout JSONReader, in parent: Bool?
  ) throws(ViewerError) -> Int {
    guard token == .beginObject || token == .beginArray else { return 1 }
    if let container = index.container(at: reader.tokenizer.range.lowerBound) {
      reader.skip(to: Int(container.end), in: parent)
      return Int(container.endLine - container.line)
    }
    var (depth, lines) = (1, 1)
    var isEmpty = true
    while depth > 0, let token = try reader.token() {
      switch token {
      case .key: continue
      case .beginObject, .beginArray:
        (depth, lines, isEmpty) = (depth + 1, lines + 1, true)
        continue
      case .endObject, .endArray:
        depth -= 1
        if !isEmpty { lines += 1 }
      case .string, .number, .boolean, .null: lines += 1
      }
      isEmpty = false
    }
    return lines
  }

  /// Reads a container whose first token was read last.
  private func preview(
    isObject: Bool, _ reader: inout JSONReader, in parent: Bool?
  ) throws(ViewerError) -> JSONPreview {
    let start = reader.tokenizer.range.lowerBound
    guard let container = index.container(at: start) else {
      return try preview(isObject: isObject, &reader, upTo: nil)
    }
    var inside = JSONReader(bytes, from: start, .value, textLength: limits.itemText)
    guard try inside.token() != nil else { throw .changed }
    var preview = try preview(isObject: isObject, &inside, upTo: limits.items)
    preview.count = Int(container.count)
    preview.lines = Int(container.endLine - container.line)
    preview.isComplete = false
    reader.skip(to: Int(container.end), in: parent)
    return preview
  }

  /// Reads the children of a container up to its end, or only the first `most`.
  private func preview(
    isObject: Bool, _ reader: inout JSONReader, upTo most: Int?
  ) throws(ViewerError) -> JSONPreview {
    var preview = JSONPreview()
    while preview.count < most ?? .max, var token = try reader.token() {
      if token == .endObject || token == .endArray { break }
      let isShown = preview.items.count < limits.items
      var key: String?
      if token == .key {
        if isShown {
          key = reader.text
          preview.isComplete = preview.isComplete && !reader.isTextCut
        }
        guard let value = try reader.token() else { throw .changed }
        token = value
      }
      preview.count += 1
      let item = isShown ? JSONPreview.Item(key, token, reader, limit: limits.itemText) : nil
      let lines = try pass(token, &reader, in: isObject)
      preview.lines += lines
      if var item {
        if item.kind == .container, lines == 1 { item = item.emptied }
        preview.isComplete =
          preview.isComplete && (item.kind != .container || lines == 1) && !item.isCut
        preview.items.append(item)
      } else {
        preview.isComplete = false
      }
    }
    // The closing bracket.
    if preview.count > 0 { preview.lines += 1 }
    return preview
  }
}

extension JSONChild.Value {
  /// The number of lines of the value, when every value has a line of its own.
  var lines: Int {
    switch self {
    case .object(let preview), .array(let preview): preview.lines
    case .string, .number, .literal: 1
    }
  }
}
