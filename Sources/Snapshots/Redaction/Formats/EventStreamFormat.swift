/// Finds the data of server-sent events. An event's data can extend over several lines, each of which begins with `data:`.
enum EventStreamFormat {
  private static let field = Array("data:".utf8)

  /// Returns the data of each event; `nil` if `text` has no line of data that is continued by another one.
  static func find(_ text: [UInt8]) -> Findings? {
    var findings = Findings()
    var index = 0
    var isStream = false
    while index < text.count {
      let start = startOfData(text, index, text.count)
      var end = endOfLine(text, index)
      if let start {
        var next = afterLineEnd(text, end)
        while next < text.count, startOfData(text, next, text.count) != nil {
          end = endOfLine(text, next)
          next = afterLineEnd(text, end)
          isStream = true
        }
        findings.add(text, start..<max(start, end), .eventData)
      } else {
        findings.add(text, index..<end, .none)
      }
      index = afterLineEnd(text, end)
    }
    return isStream ? findings : nil
  }

  /// The start of the data on the next line; `index` is that of the line end.
  static func startOfData(_ text: [UInt8], afterLineEnd index: Int, _ end: Int) -> Int {
    let line = min(afterLineEnd(text, index), end)
    return startOfData(text, line, end) ?? line
  }

  private static func startOfData(_ text: [UInt8], _ line: Int, _ end: Int) -> Int? {
    guard line + field.count <= end, text[line..<line + field.count].elementsEqual(field) else { return nil }
    let start = line + field.count
    return start < end && text[start] == UInt8(ascii: " ") ? start + 1 : start
  }

  private static func endOfLine(_ text: [UInt8], _ start: Int) -> Int {
    var end = start
    while end < text.count, !Characters.isLineEnd(text[end]) { end += 1 }
    return end
  }

  private static func afterLineEnd(_ text: [UInt8], _ end: Int) -> Int {
    guard end < text.count else { return end }
    return text[end] == 0x0D && end + 1 < text.count && text[end + 1] == 0x0A ? end + 2 : end + 1
  }
}
