/// Finds secrets in text of any kind, such as a log, a form or a URL, and the documents and encodings inside it.
struct TextFormat {
  private let text: [UInt8]
  private let search: SecretSearch
  private let depth: Int
  private var edits: [Edit] = []
  /// The start of the current word, which percent-encoding can extend over.
  private var word = 0
  /// The end of all digits of base64 that were read. They can be several lines.
  private var endOfDigits = 0
  /// The start of the current run without quotes and angle brackets, which entities can extend over.
  private var run = 0

  /// Returns the edits, not merged.
  static func edits(in text: [UInt8], _ search: SecretSearch, _ depth: Int) throws(RedactionLimit) -> [Edit] {
    var format = TextFormat(text: text, search: search, depth: depth)
    // Of equal edits, the first remains: that of an inner document keeps the type of the value.
    try format.readInner()
    for match in search.judge.matches(in: text) {
      format.edits.append(Edit(range: match, bytes: search.judge.placeholders.text(text[match])))
    }
    return format.edits
  }

  private init(text: [UInt8], search: SecretSearch, depth: Int) {
    (self.text, self.search, self.depth) = (text, search, depth)
  }

  /// Reads each byte as part of at most one inner document, so that the cost is linear.
  private mutating func readInner() throws(RedactionLimit) {
    var index = 0
    while index < text.count {
      let byte = text[index]
      var end: Int?
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        end = try readJSON(index)
        if end == nil { end = try readEscapedJSON(index) }
      case UInt8(ascii: "<"): end = try readMarkup(index)
      case UInt8(ascii: "&"): end = try readEntities(index)
      case UInt8(ascii: "%"): end = try readPercentEncoding(index)
      default:
        if Base64.isDigit(byte), index == 0 || !Base64.isDigit(text[index - 1]) {
          end = try readBase64(index)
        }
      }
      if let end {
        (index, word, run) = (end, end, end)
      } else {
        index += 1
        if Self.endsWord(byte) { word = index }
        if Self.endsRun(byte) { run = index }
      }
    }
  }

  private static let wordEnds = ByteSet("<>\"&=?#;,(){}|\\'`")
  private static let runEnds = ByteSet("<>\"")

  private static func endsWord(_ byte: UInt8) -> Bool { byte <= 0x20 || wordEnds.contains(byte) }
  private static func endsRun(_ byte: UInt8) -> Bool { runEnds.contains(byte) }

  private mutating func nest(_ range: Range<Int>, _ escaping: Escaping) throws(RedactionLimit) {
    var inner: [UInt8] = []
    escaping.decode(text, range, into: &inner)
    guard inner.count < range.count else { return }
    edits += escaping.edits(try search.edits(in: inner, depth + 1), in: text, range)
  }

  private mutating func readJSON(_ start: Int) throws(RedactionLimit) -> Int? {
    guard JSONFormat.canBegin(text, start) else { return nil }
    let json = JSONFormat(in: text, from: start, search.judge)
    if json.isTooDeep { throw .tooDeep }
    edits += try search.edits(json.findings, in: text, depth)
    return json.end > start ? json.end : nil
  }

  /// Reads JSON whose quotes are escaped, as it is in a string: `{\"name\":\"value\"}`.
  private mutating func readEscapedJSON(_ start: Int) throws(RedactionLimit) -> Int? {
    guard start + 2 < text.count, text[start + 1] == UInt8(ascii: "\\"),
      "\\\"nrt".utf8.contains(text[start + 2])
    else { return nil }
    var end = start
    while end < text.count, text[end] != UInt8(ascii: "\""), !Characters.isLineEnd(text[end]) {
      end += text[end] == UInt8(ascii: "\\") ? 2 : 1
    }
    end = min(end, text.count)
    try nest(start..<end, .json)
    return end
  }

  /// Reads the rest of the text as markup.
  private mutating func readMarkup(_ start: Int) throws(RedactionLimit) -> Int? {
    guard MarkupFormat.begins(text, start) else { return nil }
    let markup = MarkupFormat(text, from: start, search.judge)
    edits += try search.edits(markup.findings, in: text, depth)
    return text.count
  }

  private mutating func readEntities(_ index: Int) throws(RedactionLimit) -> Int? {
    var character: [UInt8] = []
    Escaping.entities.decode(text, index..<min(text.count, index + 12), into: &character)
    guard character.first != UInt8(ascii: "&") || text[index...].starts(with: "&amp;".utf8) else {
      return nil
    }
    var end = index
    while end < text.count, !Self.endsRun(text[end]) { end += 1 }
    try nest(run..<end, .entities)
    return end
  }

  private mutating func readPercentEncoding(_ index: Int) throws(RedactionLimit) -> Int? {
    guard Hexadecimal.byte(afterPercent: text, index, text.count) != nil else { return nil }
    var end = index
    while end < text.count, !Self.endsWord(text[end]) { end += 1 }
    // In a form, `+` is a space. Elsewhere it can be a digit of base64.
    var start: [UInt8] = []
    Escaping.percent.decode(text, word..<min(end, word + 3), into: &start)
    let isDocument = start.first.map { "{[<\"".utf8.contains($0) } ?? false
    try nest(word..<end, isDocument ? .form : .percent)
    return end
  }

  private mutating func readBase64(_ start: Int) throws(RedactionLimit) -> Int? {
    let digits = Base64.endOfDigits(text, start, known: endOfDigits)
    // Of a further line of the same digits, only the first part is new.
    let isFurtherLine = digits == endOfDigits
    endOfDigits = max(endOfDigits, digits)
    var end = digits
    guard end - start >= Base64.shortest else { return nil }
    while end < text.count, end - digits < 2, text[end] == UInt8(ascii: "=") { end += 1 }
    if try readBase64(start..<end) { return end }
    let head = start..<min(start + Base64.head, digits)
    if isFurtherLine, !Base64.isLikely(text, head), !text[head].contains(UInt8(ascii: "/")) { return nil }
    // A slash can also separate parts, as in a path.
    var part = start
    for index in start...digits where index == digits || text[index] == UInt8(ascii: "/") {
      if index - part >= Base64.shortest, part > start || index < digits {
        _ = try readBase64(part..<(index == digits ? end : index))
      }
      if isFurtherLine { break }
      part = index + 1
    }
    return nil
  }

  /// Returns whether the text in `range` is the base64 encoding of text or of a known format.
  private mutating func readBase64(_ range: Range<Int>) throws(RedactionLimit) -> Bool {
    guard Base64.isLikely(text, range), let inner = Base64.decode(text[range]) else { return false }
    guard let cleaned = try search.cleanedContents(inner, depth + 1) else { return false }
    guard cleaned != inner else { return true }
    edits.append(Edit(range: range, bytes: Base64.encode(cleaned, like: text[range])))
    return true
  }
}
