import JSONText

/// Finds names and values in JSON: one value, or a sequence of values (JSON Lines).
struct JSONFormat {
  /// The maximum nesting of objects and arrays.
  static let depthLimit = 512

  /// The type of a value, which its placeholder has too.
  private enum Kind { case string, number, boolean, object, array }

  /// An object or array that has not ended.
  private struct Container {
    let start: Int
    let isObject: Bool
    var count = 0
    /// What the rules say about the key of the next value.
    var verdict = Judge.Verdict()
    /// If it can be a pair, the place of its name in the texts, and its values.
    var pairName: Range<Int>?
    var pairValues: [(range: Range<Int>, kind: Kind)] = []
    /// The states of all paths, if there are any.
    var states: [JSONPathPattern.State] = []
    var key = ""
  }

  private let bytes: [UInt8]
  private let judge: Judge
  private let paths: [JSONPathPattern]
  /// The place of the first byte that was read.
  private let base: Int
  private var open: [Container] = []
  private var recent = RecentVerdicts()
  /// The number of open containers when the value that is removed began.
  private var removed: (depth: Int, start: Int)?
  private(set) var findings = Findings()
  /// The end of what was read.
  private(set) var end: Int
  /// Why the reading ended early.
  private(set) var failure: JSONFailure?
  /// Whether the limit of the nesting was exceeded.
  var isTooDeep: Bool { if case .depth(_)? = failure?.reason { true } else { false } }

  /// Reads all of `bytes`.
  init(_ bytes: [UInt8], _ judge: Judge, usesPaths: Bool) {
    self.init(bytes, judge, from: 0, usesPaths ? judge.paths : [])
    var tokenizer = Self.makeTokenizer()
    tokenizer.feed(bytes)
    tokenizer.finish()
    read(&tokenizer)
  }

  /// Reads one value in other text, as far as it is JSON.
  init(in bytes: [UInt8], from start: Int, _ judge: Judge) {
    self.init(bytes, judge, from: start, [])
    var tokenizer = Self.makeTokenizer()
    // In pieces, because most values are much shorter than the text.
    var (next, size) = (start, 64)
    repeat {
      let piece = bytes[next..<min(bytes.count, next + size)]
      next = piece.endIndex
      size = min(size * 2, 16 << 10)
      tokenizer.feed(Array(piece))
      read(&tokenizer, isOnlyFirst: true)
    } while failure == nil && !(open.isEmpty && end > start) && next < bytes.count
    if let removed, Placeholders.end(in: bytes, from: removed.start) == nil {
      findings.remove(removed.start..<end, RedactionRule.markBytes)
    }
  }

  private init(_ bytes: [UInt8], _ judge: Judge, from start: Int, _ paths: [JSONPathPattern]) {
    (self.bytes, self.judge, self.paths, base, end) = (bytes, judge, paths, start, start)
  }

  private static func makeTokenizer() -> JSONTokenizer {
    var configuration = JSONTokenizer.Configuration()
    configuration.depth = depthLimit
    configuration.isLenient = true
    configuration.keepsPlainText = false
    return JSONTokenizer(configuration)
  }

  private mutating func read(_ tokenizer: inout JSONTokenizer, isOnlyFirst: Bool = false) {
    do {
      while let token = try tokenizer.next() {
        let range = base + tokenizer.range.lowerBound..<base + tokenizer.range.upperBound
        take(token, range, &tokenizer)
        end = range.upperBound
        if isOnlyFirst, open.isEmpty { return }
      }
    } catch {
      failure = error
      // What follows the last token is read as text.
      end = max(end, base + 1)
    }
  }

  private mutating func take(
    _ token: JSONTokenizer.Token, _ range: Range<Int>, _ tokenizer: inout JSONTokenizer
  ) {
    switch token {
    case .key: takeKey(range.lowerBound + 1..<range.upperBound - 1, &tokenizer)
    case .beginObject, .beginArray:
      let isObject = token == .beginObject
      let (isSecret, states) = beginValue(range, nil)
      if isSecret { removed = (open.count, range.lowerBound) }
      open.append(Container(start: range.lowerBound, isObject: isObject, states: states))
    case .endObject, .endArray: endContainer(range.upperBound)
    case .string:
      let isSecret = beginValue(range, .string).isSecret
      let content = range.lowerBound + 1..<range.upperBound - 1
      if isSecret {
        remove(range, .string)
      } else if removed == nil {
        if tokenizer.isPlain {
          findings.add(content, bytes[content], .json)
        } else if tokenizer.isUnicode {
          findings.add(content, tokenizer.text, .json)
        } else {
          findings.add(bytes, content, .json)
        }
        notePairName()
      }
    case .number:
      if beginValue(range, .number).isSecret {
        remove(range, .number)
      } else if removed == nil, judge.readsShortNumbers || range.count >= 12 {
        findings.add(bytes, range, .none, or: "0")
      }
    case .boolean: if beginValue(range, .boolean).isSecret { remove(range, .boolean) }
    case .null: _ = beginValue(range, nil)
    }
  }

  /// Judges the key between the quotes at `range`.
  private mutating func takeKey(_ range: Range<Int>, _ tokenizer: inout JSONTokenizer) {
    guard removed == nil, !open.isEmpty else { return }
    func key() -> ArraySlice<UInt8> { tokenizer.isPlain ? bytes[range] : tokenizer.text[...] }
    let verdict = recent.verdict(bytes, range) { judge.verdict(key()) }
    open[open.count - 1].verdict = verdict
    if !paths.isEmpty { open[open.count - 1].key = String(decoding: key(), as: UTF8.self) }
    if verdict.hasMatches { findings.add(bytes, range, .json) }
  }

  /// Returns whether the value at `range` is removed because of its name or its path, and the states of the paths.
  private mutating func beginValue(
    _ range: Range<Int>, _ kind: Kind?
  ) -> (isSecret: Bool, states: [JSONPathPattern.State]) {
    guard removed == nil else { return (false, []) }
    guard let last = open.indices.last else { return (false, paths.map(\.start)) }
    let isObject = open[last].isObject
    var isSecret = isObject && open[last].verdict.isSecret
    var states: [JSONPathPattern.State] = []
    if !paths.isEmpty {
      let step: JSONPath.Step = isObject ? .key(open[last].key) : .index(open[last].count)
      for (path, state) in zip(paths, open[last].states) {
        let next = path.advance(state, by: step)
        isSecret = isSecret || path.isMatch(next)
        states.append(next)
      }
    }
    if let kind, !isSecret, isObject ? open[last].verdict.role == .value : open[last].count == 1 {
      open[last].pairValues.append((range, kind))
    }
    open[last].count += 1
    return (isSecret, states)
  }

  /// Notes the string that was added last if it can be the name of a pair: that of `name`, or the first of two in a list
  /// of pairs. It is judged if there is a value.
  private mutating func notePairName() {
    guard let last = open.indices.last, let text = findings.values.last?.text else { return }
    let isName =
      open[last].isObject
      ? open[last].verdict.role == .name : open[last].count == 1 && last > 0 && !open[last - 1].isObject
    if isName { open[last].pairName = text }
  }

  private mutating func endContainer(_ end: Int) {
    guard let container = open.popLast() else { return }
    let kind: Kind = container.isObject ? .object : .array
    if let removed {
      guard removed.depth == open.count else { return }
      self.removed = nil
      remove(container.start..<end, kind)
    } else if let name = container.pairName, !container.pairValues.isEmpty,
      container.isObject || container.count == 2, judge.verdict(findings.texts[name]).isSecret
    {
      for value in container.pairValues { remove(value.range, value.kind) }
    }
    // It can itself be the value of a pair.
    if let last = open.indices.last, open[last].isObject, open[last].verdict.role == .value {
      open[last].pairValues.append((container.start..<end, kind))
    }
  }

  /// Removes the value at `range`, unless it is a placeholder already.
  private mutating func remove(_ range: Range<Int>, _ kind: Kind) {
    switch kind {
    case .string:
      let content = range.lowerBound + 1..<range.upperBound - 1
      var text: [UInt8] = []
      Escaping.json.decode(bytes, content, into: &text)
      if !judge.placeholders.keeps(text) { findings.remove(content, judge.placeholders.text(text)) }
    case .number: findings.remove(range, judge.placeholders.number(bytes[range]))
    case .boolean: findings.remove(range, Array("false".utf8))
    case .object: findings.remove(range, Array("{}".utf8))
    case .array: findings.remove(range, Array("[]".utf8))
    }
  }

  // MARK: - Openings

  /// Whether a text begins like an object, an array or a string, or is a number. Several numbers can be the parts of one
  /// secret, such as `4111 1111 1111 1111`.
  static func isLikely(_ text: [UInt8]) -> Bool {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let start = text.starts(with: mark) ? mark.count : 0
    guard let first = text[start...].firstIndex(where: { !Characters.isSpace($0) }) else { return false }
    if "{[\"".utf8.contains(text[first]) { return true }
    let end = text[first...].firstIndex { !Self.isInNumber($0) } ?? text.endIndex
    return end > first && text[end...].allSatisfy(Characters.isSpace)
  }

  private static func isInNumber(_ byte: UInt8) -> Bool {
    Characters.isDigit(byte) || "+-.eE".utf8.contains(byte)
  }

  /// Whether an object or an array can begin at `index` in other text.
  static func canBegin(_ text: [UInt8], _ index: Int) -> Bool {
    var next = index + 1
    while next < text.count, Characters.isSpace(text[next]) { next += 1 }
    guard next < text.count else { return false }
    return text[index] == UInt8(ascii: "{")
      ? text[next] == UInt8(ascii: "\"") : "{[\"".utf8.contains(text[next])
  }
}
