import Foundation

/// The text of a tool's answer: words of this program, and fenced text of others, within a budget.
struct AgentAnswer: Sendable {
  /// Limits of an answer.
  struct Limits: Sendable, Hashable {
    /// The maximum number of bytes in UTF-8. JSON and digits have two bytes a token at worst, so that these are fewer than
    /// 8,000 tokens.
    var bytes = 15_500
    /// The bytes that are kept for the words after a fenced text: its end, and how to go on.
    var reserve = 500
    /// The maximum number of bytes of a line in a list.
    var line = 4200
  }

  /// The text so far. It has at most ``Limits/bytes`` bytes.
  private(set) var text = ""
  let limits: Limits
  private let fence: Fence

  init(fence: Fence = Fence(), limits: Limits = Limits()) { (self.fence, self.limits) = (fence, limits) }

  /// The bytes that a fenced text can still have.
  var room: Int {
    max(0, limits.bytes - limits.reserve - text.utf8.count - fence.opening("").utf8.count - 100)
  }

  /// Appends a line of this program's own words. It must contain nothing that others wrote.
  mutating func say(_ line: String) {
    guard text.utf8.count + line.utf8.count < limits.bytes else { return }
    text += line + "\n"
  }

  /// Appends lines that others wrote, as many as there is room for. A long line is cut.
  /// - Parameters:
  ///   - label: what the lines are, in this program's own words.
  ///   - share: the share of the room that the lines can take.
  /// - Returns: the number of lines that were appended.
  @discardableResult mutating func quote(
    _ label: String, _ lines: some Sequence<String>, share: Double = 1
  ) -> Int {
    var (count, used) = (0, 0)
    let most = Int(Double(room) * share)
    var quoted = ""
    for line in lines {
      let line = cut(fence.cleaned(line).replacing("\n", with: #"\u{A}"#))
      guard used + line.utf8.count + 1 <= most else { break }
      quoted += line + "\n"
      used += line.utf8.count + 1
      count += 1
    }
    if count > 0 { text += "\(fence.opening(label))\n\(quoted)\(fence.closing)\n" }
    return count
  }

  /// Appends the beginning of a text that others wrote, up to the end of a line or of a character.
  /// - Parameters:
  ///   - bytes: the text in UTF-8. What is no UTF-8 is replaced.
  ///   - isEnd: whether the text ends with these bytes.
  ///   - lines: the maximum number of lines.
  /// - Returns: the number of bytes of the text that were appended.
  mutating func quote(_ label: String, text bytes: [UInt8], isEnd: Bool, lines: Int = .max) -> Int {
    let most = room
    var quoted = ""
    var (consumed, used, count) = (0, 0, 0)
    var border: (consumed: Int, used: Int)?
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var isFull = false
    parsing: while count < lines {
      let (scalar, length): (Unicode.Scalar, Int)
      switch parser.parseScalar(from: &iterator) {
      case .valid(let encoded): (scalar, length) = (Unicode.UTF8.decode(encoded), encoded.count)
      case .error(let wrong):
        // The last character can be incomplete here.
        if !isEnd, bytes.count - consumed < 4 { break parsing }
        (scalar, length) = ("\u{FFFD}", wrong)
      case .emptyInput: break parsing
      }
      // The carriage return of a line end is not shown.
      let next = consumed + length
      if scalar == "\r", next == bytes.count, !isEnd { break }
      let isLineEnd = scalar == "\r" && next < bytes.count && bytes[next] == 0x0A
      let written = isLineEnd ? "" : Fence.escaped(scalar)
      guard used + written.utf8.count <= most else {
        isFull = true
        break
      }
      quoted += written
      used += written.utf8.count
      consumed = next
      if scalar == "\n" {
        count += 1
        border = (consumed, used)
      }
    }
    if isFull, let border, border.consumed * 2 >= consumed {
      consumed = border.consumed
      quoted = String(decoding: quoted.utf8.prefix(border.used), as: UTF8.self)
    }
    let shown = fence.withoutMark(quoted)
    text += "\(fence.opening(label))\n\(shown)\(shown.hasSuffix("\n") ? "" : "\n")\(fence.closing)\n"
    return consumed
  }

  /// Says how the reader gets the rest.
  mutating func sayNext(_ cursor: String, _ rest: String) {
    say("\(rest) For more, call again with the same arguments and cursor \"\(cursor)\".")
  }

  private func cut(_ line: String) -> String {
    guard line.utf8.count > limits.line else { return line }
    var kept = ""
    for character in line {
      guard kept.utf8.count + character.utf8.count <= limits.line else { break }
      kept.append(character)
    }
    return kept + "… (\(line.utf8.count - kept.utf8.count) bytes more)"
  }
}
