/// Finds names and values in XML, HTML and XML property lists: elements, attributes and CDATA sections.
///
/// It reads any text, because HTML has few rules: what is no tag is text.
struct MarkupFormat {
  /// The maximum length of a tag. A longer one is read as text, so that the cost is linear.
  static let tagLimit = 64 << 10

  /// What the last element was, if it was the name of a pair: `<key>token</key>` or `<name>token</name>`.
  private struct PairName {
    let isKey: Bool
    var isSecret = false
  }

  private let text: [UInt8]
  private let judge: Judge
  private(set) var findings = Findings()
  /// The name of the last element that began.
  private var element: [UInt8] = []
  /// The element that is removed with all its contents, and how many elements of the same name are open.
  private var removed: (name: [UInt8], level: Int)?
  private var pairName: PairName?

  init(_ text: [UInt8], from start: Int = 0, _ judge: Judge) {
    (self.text, self.judge) = (text, judge)
    read(start)
  }

  /// Whether a tag begins at `index`.
  static func begins(_ text: [UInt8], _ index: Int) -> Bool {
    canBegin(text, index) && endOfTag(text, index) != nil
  }

  private static func canBegin(_ text: [UInt8], _ index: Int) -> Bool {
    guard index + 1 < text.count, text[index] == UInt8(ascii: "<") else { return false }
    let next = text[index + 1]
    return Characters.isAlphanumeric(next) || "!?/_".utf8.contains(next)
  }

  static func isLikely(_ text: [UInt8]) -> Bool {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let start = text.starts(with: mark) ? mark.count : 0
    return text[start...].firstIndex { !Characters.isSpace($0) }.map { begins(text, $0) } ?? false
  }

  private mutating func read(_ start: Int) {
    var (index, run) = (start, start)
    // After a tag that does not end, no other one of its kind can end.
    var unended: Set<[UInt8]> = []
    while index < text.count {
      guard text[index] == UInt8(ascii: "<"), Self.canBegin(text, index) else {
        index += 1
        continue
      }
      let section = [Self.comment, Self.cdata, Self.instruction].first { has($0.start, index) }
      if let section {
        guard !unended.contains(section.start), let end = find(section.end, index + section.start.count)
        else {
          unended.insert(section.start)
          index += 1
          continue
        }
        addText(run..<index)
        addSection(index + section.start.count..<end)
        index = end + section.end.count
      } else if let end = Self.endOfTag(text, index) {
        addText(run..<index)
        index = takeTag(index, end)
      } else {
        index += 1
        continue
      }
      run = index
    }
    addText(run..<text.count)
  }

  private static let comment = (start: Array("<!--".utf8), end: Array("-->".utf8))
  private static let cdata = (start: Array("<![CDATA[".utf8), end: Array("]]>".utf8))
  private static let instruction = (start: Array("<?".utf8), end: Array("?>".utf8))

  private func has(_ word: [UInt8], _ index: Int) -> Bool {
    index + word.count <= text.count && text[index..<index + word.count].elementsEqual(word)
  }

  private func find(_ word: [UInt8], _ start: Int) -> Int? {
    var index = start
    while index + word.count <= text.count {
      if text[index] == word[0], has(word, index) { return index }
      index += 1
    }
    return nil
  }

  /// The index of the `>` that ends the tag at `start`.
  private static func endOfTag(_ text: [UInt8], _ start: Int) -> Int? {
    var index = start + 1
    if text[index] == UInt8(ascii: "/") { index += 1 }
    while index < text.count, isName(text[index]) { index += 1 }
    guard index < text.count, Characters.isSpace(text[index]) || "/>!?[-".utf8.contains(text[index]) else {
      return nil
    }
    var quote: UInt8?
    let limit = min(text.count, start + Self.tagLimit)
    while index < limit {
      let byte = text[index]
      if let open = quote {
        if byte == open { quote = nil }
      } else if Characters.isQuote(byte),
        text[index - 1] == UInt8(ascii: "=") || Characters.isSpace(text[index - 1])
      {
        quote = byte
      } else if byte == UInt8(ascii: ">") {
        return index
      } else if byte == UInt8(ascii: "<") {
        return nil
      }
      index += 1
    }
    return nil
  }

  private static func isName(_ byte: UInt8) -> Bool {
    Characters.isAlphanumeric(byte) || byte >= 0x80 || "_-.:".utf8.contains(byte)
  }

  // MARK: - Tags

  /// Takes the tag from `start` to `end`. Returns the index at which the reading goes on.
  private mutating func takeTag(_ start: Int, _ end: Int) -> Int {
    var index = start + 1
    let isEnd = text[index] == UInt8(ascii: "/")
    if isEnd { index += 1 }
    let nameStart = index
    while index < end, Self.isName(text[index]) { index += 1 }
    let name = text[nameStart..<index].map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
    if isEnd {
      endElement(name)
      return end + 1
    }
    let isEmpty = text[end - 1] == UInt8(ascii: "/")
    let isSecret = beginElement(name)
    let attributes = attributes(index..<(isEmpty ? end - 1 : end))
    let pair = secretPair(attributes)
    for attribute in attributes where !attribute.value.isEmpty {
      let verdict = judge.verdict(text[attribute.name])
      if isSecret || removed != nil || verdict.isSecret || pair != .none && verdict.role == .value {
        remove(attribute.value)
      } else {
        findings.add(text, attribute.value, .entities)
      }
    }
    if !isEmpty {
      if let removed {
        if removed.name == name { self.removed = (name, removed.level + 1) }
      } else if isSecret || pair == .contents, !Self.emptyElements.contains(name) {
        removed = (name, 1)
      }
    }
    element = name
    guard !isEmpty, name == Self.script || name == Self.style else { return end + 1 }
    // Their contents have no tags and no entities.
    let close = find([UInt8(ascii: "<"), UInt8(ascii: "/")] + text[nameStart..<index], end + 1) ?? text.count
    addSection(end + 1..<close)
    return close
  }

  /// The elements of HTML without contents and end tags.
  private static let emptyElements = Set(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"].map
    {
      Array($0.utf8)
    })
  private static let script = Array("script".utf8)
  private static let style = Array("style".utf8)
  private static let key = Array("key".utf8)

  /// Returns whether the element is removed because of its name, or because of a name before it.
  private mutating func beginElement(_ name: [UInt8]) -> Bool {
    let verdict = judge.verdict(name)
    defer {
      pairName = verdict.role == .name ? PairName(isKey: name == Self.key) : nil
    }
    return verdict.isSecret || pairName.map { $0.isSecret && ($0.isKey || verdict.role == .value) } == true
  }

  private mutating func endElement(_ name: [UInt8]) {
    guard let removed, removed.name == name else { return }
    self.removed = removed.level > 1 ? (name, removed.level - 1) : nil
  }

  private struct Attribute {
    var name: Range<Int>
    var value: Range<Int>
  }

  private func attributes(_ range: Range<Int>) -> [Attribute] {
    var attributes: [Attribute] = []
    var index = range.lowerBound
    while index < range.upperBound {
      guard Self.isName(text[index]) else {
        index += 1
        continue
      }
      let name = index
      while index < range.upperBound, Self.isName(text[index]) { index += 1 }
      let nameEnd = index
      while index < range.upperBound, Characters.isSpace(text[index]) { index += 1 }
      guard index < range.upperBound, text[index] == UInt8(ascii: "=") else { continue }
      index += 1
      while index < range.upperBound, Characters.isSpace(text[index]) { index += 1 }
      guard index < range.upperBound else { break }
      let quote = Characters.isQuote(text[index]) ? text[index] : nil
      if quote != nil { index += 1 }
      let value = index
      while index < range.upperBound, quote.map({ text[index] != $0 }) ?? !Characters.isSpace(text[index]) {
        index += 1
      }
      attributes.append(Attribute(name: name..<nameEnd, value: value..<index))
      if quote != nil { index += 1 }
    }
    return attributes
  }

  private enum Pair { case none, value, contents }

  /// What an attribute such as `name="password"` says about the other attributes, and about the element's contents.
  private func secretPair(_ attributes: [Attribute]) -> Pair {
    var pair = Pair.none
    for attribute in attributes {
      let name = String(decoding: text[attribute.name], as: UTF8.self).lowercased()
      if name == "type", text[attribute.value].elementsEqual("password".utf8) { pair = .value }
      guard judge.verdict(text[attribute.name]).role == .name, judge.verdict(text[attribute.value]).isSecret
      else { continue }
      // An `id` names a place in a page, not a value.
      if name != "id" { return .contents }
      pair = .value
    }
    return pair
  }

  // MARK: - Text

  private mutating func addText(_ range: Range<Int>) {
    var range = range
    while !range.isEmpty, Characters.isSpace(text[range.lowerBound]) { range.removeFirst() }
    while !range.isEmpty, Characters.isSpace(text[range.upperBound - 1]) { range.removeLast() }
    guard !range.isEmpty else { return }
    if removed != nil {
      remove(range)
    } else {
      if pairName != nil, judge.verdict(text[range]).isSecret { pairName?.isSecret = true }
      findings.add(text, range, .entities)
    }
  }

  private mutating func addSection(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    if removed != nil { remove(range) } else { findings.add(text, range, .none) }
  }

  /// Removes a value. Property lists have types, which remain.
  private mutating func remove(_ range: Range<Int>) {
    let placeholder: [UInt8] =
      switch String(decoding: element, as: UTF8.self) {
      case "integer", "real": judge.placeholders.number(text[range])
      case "date": Array("1970-01-01T00:00:00Z".utf8)
      case "data": []
      default: judge.placeholders.text(decoded(range))
      }
    if !text[range].elementsEqual(placeholder), !judge.placeholders.keeps(Array(text[range])) {
      findings.remove(range, placeholder)
    }
  }

  private func decoded(_ range: Range<Int>) -> [UInt8] {
    var decoded: [UInt8] = []
    Escaping.entities.decode(text, range, into: &decoded)
    return decoded
  }
}
