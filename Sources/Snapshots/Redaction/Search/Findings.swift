/// What a format has found in a document: secrets by their names, and values whose text is still to be searched.
struct Findings {
  /// A value: where it is in the document, and its decoded text.
  struct Value {
    /// The bytes of the document that contain the value, without quotes.
    var range: Range<Int>
    /// The place of the decoded text in ``Findings/texts``.
    var text: Range<Int>
    var escaping: Escaping
    /// What replaces the whole value if something is found in it, so that it keeps its type; `nil` for text.
    var placeholder: StaticString?
  }

  /// The decoded texts of all values, so that a rule searches all of them at once. Each is followed by 0, which ends
  /// everything that a scanner looks for, and by a line end for regular expressions.
  private(set) var texts: [UInt8] = []
  private(set) var values: [Value] = []
  var edits: [Edit] = []

  /// Adds a value with the decoded `text`.
  mutating func add(_ range: Range<Int>, _ text: some Collection<UInt8>, _ escaping: Escaping) {
    let start = texts.count
    texts += text
    append(range, from: start, escaping)
  }

  /// Adds a value of `bytes` at `range`, and decodes it.
  mutating func add(
    _ bytes: [UInt8], _ range: Range<Int>, _ escaping: Escaping, or placeholder: StaticString? = nil
  ) {
    let start = texts.count
    escaping.decode(bytes, range, into: &texts)
    append(range, from: start, escaping, or: placeholder)
  }

  private mutating func append(
    _ range: Range<Int>, from start: Int, _ escaping: Escaping, or placeholder: StaticString? = nil
  ) {
    values.append(
      Value(range: range, text: start..<texts.count, escaping: escaping, placeholder: placeholder))
    texts.append(0)
    texts.append(0x0A)
  }

  /// Removes the value at `range`.
  mutating func remove(_ range: Range<Int>, _ placeholder: [UInt8]) {
    edits.append(Edit(range: range, bytes: placeholder))
  }
}
