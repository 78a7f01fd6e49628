/// Finds the parts of a multipart body (RFC 2046 §5.1), such as a form with files (RFC 7578).
enum MultipartFormat {
  struct Part {
    /// The header fields, as text.
    var head: Range<Int>
    var body: Range<Int>
    /// The name of the field in a form.
    var name: [UInt8]
  }

  /// The maximum length of a boundary (RFC 2046 §5.1.1), and of a part's header.
  private static let boundaryLimit = 70
  private static let headLimit = 16 << 10

  /// Returns the parts; `nil` if the bytes do not begin with a boundary and end with a closing one.
  static func parts(of bytes: [UInt8]) -> [Part]? {
    guard bytes.starts(with: "--".utf8) else { return nil }
    let line = bytes.prefix(boundaryLimit + 4).prefix { !Characters.isLineEnd($0) }
    guard line.count > 2, line.count <= boundaryLimit + 2, line.endIndex < bytes.count else { return nil }
    let delimiter = Array(line)
    var parts: [Part] = []
    var start = afterLineEnd(bytes, line.endIndex)
    while let next = find(delimiter, bytes, from: start) {
      let end = beforeLineEnd(bytes, next)
      if end >= start { parts.append(part(bytes, start..<end)) }
      let after = next + delimiter.count
      if after + 1 < bytes.count, bytes[after] == UInt8(ascii: "-"), bytes[after + 1] == UInt8(ascii: "-") {
        return parts
      }
      start = afterLineEnd(bytes, after)
    }
    return nil
  }

  /// Returns what a body without binary parts contains; `nil` if it is not multipart.
  static func find(_ text: [UInt8], _ judge: Judge) -> Findings? {
    guard let parts = parts(of: text) else { return nil }
    var findings = Findings()
    for part in parts {
      findings.add(text, part.head, .none)
      if judge.verdict(part.name).isSecret {
        findings.remove(part.body, judge.placeholders.text(text[part.body]))
      } else {
        findings.add(text, part.body, .none)
      }
    }
    return findings
  }

  /// The index of the next delimiter at the start of a line.
  private static func find(_ delimiter: [UInt8], _ bytes: [UInt8], from start: Int) -> Int? {
    var index = start
    while index + delimiter.count <= bytes.count {
      if index == 0 || bytes[index - 1] == 0x0A, bytes[index] == UInt8(ascii: "-"),
        bytes[index..<index + delimiter.count].elementsEqual(delimiter)
      {
        return index
      }
      index += 1
    }
    return nil
  }

  private static func afterLineEnd(_ bytes: [UInt8], _ index: Int) -> Int {
    var index = index
    while index < bytes.count, bytes[index] != 0x0A { index += 1 }
    return min(index + 1, bytes.count)
  }

  private static func beforeLineEnd(_ bytes: [UInt8], _ index: Int) -> Int {
    guard index > 0, bytes[index - 1] == 0x0A else { return index }
    return index > 1 && bytes[index - 2] == 0x0D ? index - 2 : index - 1
  }

  private static func part(_ bytes: [UInt8], _ range: Range<Int>) -> Part {
    var index = range.lowerBound
    let limit = min(range.upperBound, range.lowerBound + headLimit)
    // An empty line ends the header.
    while index < limit {
      let next = min(afterLineEnd(bytes, index), range.upperBound)
      let isEmpty = bytes[index..<next].allSatisfy(Characters.isLineEnd)
      if isEmpty {
        return Part(
          head: range.lowerBound..<index, body: next..<range.upperBound,
          name: name(bytes[range.lowerBound..<index]))
      }
      index = next
    }
    return Part(head: range.lowerBound..<range.lowerBound, body: range, name: [])
  }

  /// The value of the parameter `name` of Content-Disposition.
  private static func name(_ head: ArraySlice<UInt8>) -> [UInt8] {
    let mark = Array(" name=".utf8)
    var index = head.startIndex
    while index + mark.count < head.endIndex {
      let isStart = head[index] == UInt8(ascii: " ") || head[index] == UInt8(ascii: ";")
      if isStart, head[index + 1..<index + mark.count].elementsEqual(mark.dropFirst()) {
        let value = head[(index + mark.count)...]
        if value.first == UInt8(ascii: "\"") {
          return Array(value.dropFirst().prefix { $0 != UInt8(ascii: "\"") })
        }
        return Array(value.prefix { !Characters.isSpace($0) && $0 != UInt8(ascii: ";") })
      }
      index += 1
    }
    return []
  }
}
