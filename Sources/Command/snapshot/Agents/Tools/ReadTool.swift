import JSONText
import SnapshotFormat
import SnapshotViewer

/// Reads a recording or another file: of JSON a value, of other text its lines.
struct ReadTool: MCPTool {
  /// The maximum number of children or lines in an answer.
  static let most = 1000
  /// The number of bytes up to which a value inside is shown completely.
  private static let inline = 600

  let snapshots: OfferedSnapshots

  let name = "read_recording"
  let title = "Read a recording"
  let description = """
    Reads a recording or an attachment of a snapshot. JSON and property lists: the value at path, whole if it is small, \
    otherwise its members or elements, large ones as a preview that a longer path opens. Other text: its lines.
    """
  let parameters: [ToolParameter] = [
    .snapshot,
    ToolParameter(
      "recording", .text, "The identifier of a recording, or the name of an attachment.", isRequired: true),
    ToolParameter(
      "call", .number(0...Int(Int32.max)), "The call, if there are several; the last one if left out."),
    ToolParameter(
      "path", .text, "The value, as .items[0].name or /items/0/name; the whole document if left out."),
    ToolParameter("limit", .number(1...most), "The most members, elements or lines."),
    .cursor,
  ]

  func run(_ arguments: ToolArguments, _ answer: inout AgentAnswer) async throws {
    let opened = try await snapshots.open(arguments.required("snapshot"))
    let file = try opened.files.file(named: arguments.required("recording"), call: arguments.number("call"))
    let viewed = try await snapshots.view(file, of: opened)
    let from = try arguments.position()
    let limit = arguments.number("limit")
    answer.say("Size of the file: \(Console.size(file.size)).")
    if let document = viewed.document {
      let place = try Self.place(arguments.text("path"), in: document)
      return try Self.show(document, place, from: from, limit: limit, &answer)
    }
    guard arguments.text("path") == nil else {
      throw ToolFailure("This is neither JSON nor a property list that can be read, so it has no paths.")
    }
    try Self.show(viewed.contents, from: from, limit: limit, &answer)
  }

  private static func place(_ path: String?, in document: JSONView) throws -> JSONPlace {
    guard let path else { return document.root }
    guard let tokens = JSONPath.tokens(ofPointer: path) ?? JSONPath.tokens(ofPath: path) else {
      throw ToolFailure("This is not a path such as .items[0].name or /items/0/name.")
    }
    guard let place = try document.place(at: tokens) else {
      throw ToolFailure("There is no value at this path.")
    }
    return place
  }

  // MARK: - JSON

  private static func show(
    _ document: JSONView, _ place: JSONPlace, from: Int, limit: Int?, _ answer: inout AgentAnswer
  ) throws {
    let value = try document.value(at: place).value
    if from == 0, limit == nil, let whole = try whole(document, place, within: answer.room) {
      _ = answer.quote("the value", text: whole, isEnd: true)
      return
    }
    guard let count = value.childCount else {
      return try showLong(document, place, from: from, &answer)
    }
    guard from < count else { return answer.say("There is nothing after this cursor.") }
    var lines: [String] = []
    let most = min(limit ?? most, count - from)
    var room = answer.room
    while lines.count < most, room > 0 {
      let children = try document.children(
        of: place, from: from + lines.count, limit: min(100, most - lines.count))
      guard !children.isEmpty else { break }
      for child in children {
        let line =
          "\(JSONPath(Array(child.place.path.steps.suffix(1)))): \(try text(of: child, in: document))"
        room -= line.utf8.count + 1
        lines.append(line)
        // The next one is read by the next call.
        if room <= 0 { break }
      }
    }
    var kind = "elements"
    if case .object = value { kind = "members" }
    answer.say("A container with \(count) \(kind):")
    let shown = answer.quote("\(kind) of the value", lines)
    let rest = count - from - shown
    if rest > 0 { answer.sayNext("\(from + shown)", "\(rest) more \(kind).") }
  }

  /// The value with one value in each line, or in one line, if it fits.
  private static func whole(_ document: JSONView, _ place: JSONPlace, within room: Int) throws -> [UInt8]? {
    guard let source = try document.source(of: place, limit: room) else { return nil }
    for isCompact in [false, true] {
      var printer = JSONPrinter(isCompact: isCompact)
      var text = try printed(source, by: &printer)
      if text.last == 0x0A { text.removeLast() }
      let escaped = String(decoding: text, as: UTF8.self).unicodeScalars.reduce(0) {
        $0 + Fence.escaped($1).utf8.count
      }
      if escaped <= room { return text }
    }
    return nil
  }

  private static func printed(_ source: [UInt8], by printer: inout JSONPrinter) throws -> [UInt8] {
    do {
      return try printer.take(source) + printer.finish()
    } catch {
      throw ToolFailure("The value is malformed.", details: ["\(error)"])
    }
  }

  private static func text(of child: JSONChild, in document: JSONView) throws -> String {
    switch child.value {
    case .literal(let text): return text
    case .number(let text, let isCut): return text + (isCut ? "… (read its path)" : "")
    case .string(let text, let isCut): return JSONString.quoted(text) + (isCut ? "… (read its path)" : "")
    case .object(let preview), .array(let preview):
      if let source = try document.source(of: child.place, limit: inline) {
        var printer = JSONPrinter(isCompact: true)
        let text = try printed(source, by: &printer)
        return String(decoding: text.last == 0x0A ? text.dropLast() : text, as: UTF8.self)
      }
      var isObject = false
      if case .object = child.value { isObject = true }
      let items = preview.items.map { ($0.key.map { "\($0): " } ?? "") + $0.text }.joined(separator: ", ")
      return "\(isObject ? "{" : "[")\(preview.count) \(isObject ? "members" : "elements"): \(items)…"
    }
  }

  /// A part of a string or number that does not fit, as it is written in the document.
  private static func showLong(
    _ document: JSONView, _ place: JSONPlace, from: Int, _ answer: inout AgentAnswer
  ) throws {
    let range = try document.range(of: place)
    guard from < range.count else { return answer.say("There is nothing after this cursor.") }
    let end = min(range.count, from + answer.room + 4)
    let bytes = try document.bytes.read(upTo: end - from, at: range.lowerBound + from)
    let shown = answer.quote(
      "a part of the value, as written in JSON", text: bytes, isEnd: end == range.count)
    let rest = range.count - from - shown
    if rest > 0 { answer.sayNext("\(from + shown)", "\(rest) bytes more.") }
  }

  // MARK: - Text

  private static func show(
    _ bytes: ViewedBytes, from: Int, limit: Int?, _ answer: inout AgentAnswer
  ) throws {
    guard bytes.size > 0 else { return answer.say("It is empty.") }
    guard ContentHead(try bytes.read(upTo: ContentHead.length, at: 0)).isText else {
      return answer.say("It is not text.")
    }
    guard from < bytes.size else { return answer.say("There is nothing after this cursor.") }
    let end = min(bytes.size, from + answer.room + 4)
    let part = try bytes.read(upTo: end - from, at: from)
    let shown = answer.quote("text of the file", text: part, isEnd: end == bytes.size, lines: limit ?? .max)
    let rest = bytes.size - from - shown
    if rest > 0, shown > 0 { answer.sayNext("\(from + shown)", "\(rest) bytes more.") }
  }
}
