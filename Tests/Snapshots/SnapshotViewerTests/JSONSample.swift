import JSONText
import SnapshotViewer
import SystemIO
import TestSupport

/// A JSON value for tests, and its text.
indirect enum JSONSample {
  case object([(String, JSONSample)])
  case array([JSONSample])
  case string(String)
  case number(String)
  case literal(String)

  /// A random value.
  static func random(depth: Int, using generator: inout SeededGenerator) -> JSONSample {
    switch Int.random(in: 0..<(depth > 0 ? 10 : 5), using: &generator) {
    case 0: .literal(["true", "false", "null"].randomElement(using: &generator) ?? "null")
    case 1, 2: .number("\(Int.random(in: -99...99_999, using: &generator))")
    case 3, 4:
      .string(
        String(
          repeating: ["a", "é", "\"", "\\", "\n", "日"].randomElement(using: &generator) ?? "a",
          count: Int.random(in: 0...12, using: &generator)))
    case 5, 6, 7:
      .object(
        (0..<Int.random(in: 0...9, using: &generator)).map { index in
          ("k\(index)/~\"é", .random(depth: depth - 1, using: &generator))
        })
    default:
      .array(
        (0..<Int.random(in: 0...9, using: &generator)).map { _ in .random(depth: depth - 1, using: &generator)
        })
    }
  }

  /// The value as JSON, with random white space.
  func text(using generator: inout SeededGenerator) -> String {
    var text = ""
    append(to: &text, using: &generator)
    return text
  }

  private func append(to text: inout String, using generator: inout SeededGenerator) {
    func space() { text += ["", "", " ", "\n\t"].randomElement(using: &generator) ?? "" }
    switch self {
    case .object(let members):
      text += "{"
      for (index, (key, value)) in members.enumerated() {
        if index > 0 { text += "," }
        space()
        text += JSONString.quoted(key)
        space()
        text += ":"
        space()
        value.append(to: &text, using: &generator)
        space()
      }
      text += "}"
    case .array(let elements):
      text += "["
      for (index, value) in elements.enumerated() {
        if index > 0 { text += "," }
        space()
        value.append(to: &text, using: &generator)
        space()
      }
      text += "]"
    case .string(let string): text += JSONString.quoted(string)
    case .number(let digits): text += digits
    case .literal(let word): text += word
    }
  }

  /// The number of lines when every value has a line of its own.
  var lines: Int {
    switch self {
    case .object(let members): members.isEmpty ? 1 : 2 + members.reduce(0) { $0 + $1.1.lines }
    case .array(let elements): elements.isEmpty ? 1 : 2 + elements.reduce(0) { $0 + $1.lines }
    case .string, .number, .literal: 1
    }
  }
}

extension ViewedBytes {
  /// The bytes of `text`, in a temporary file.
  static func of(_ text: String) throws -> ViewedBytes {
    let folder = try TemporaryFolder()
    let file = try File(temporaryIn: folder.path)
    try file.write(Array(text.utf8), at: 0)
    return try ViewedBytes(file)
  }
}

extension JSONView {
  /// A view of `text` with an index whose places are `spacing` bytes apart.
  static func of(_ text: String, spacing: Int = 16, entries: Int = 32 << 10) throws -> JSONView {
    let bytes = try ViewedBytes.of(text)
    var limits = JSONIndex.Limits()
    limits.spacing = spacing
    limits.entries = entries
    guard case .index(let index) = try JSONIndex.of(bytes, limits: limits) else {
      throw InvalidSample(text: text)
    }
    return JSONView(bytes, index)
  }

  struct InvalidSample: Error { let text: String }
}
