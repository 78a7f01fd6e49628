import JSONText

/// A search in the contents of files, as they stream by: JSON, JSON Lines and property lists by their values, other text
/// by its lines.
///
/// The memory used does not depend on the files. What a file is, and what is found in it, is the same as on the page of the
/// file, except for the limits. Thread-safe; every call blocks.
package struct ContentSearch: Sendable {
  /// Limits of a search.
  package struct Limits: Sendable, Hashable {
    /// The maximum number of bytes of a file.
    package var file: Int64 = 256 << 20
    /// The maximum number of bytes of a property list, and of the JSON made from it.
    package var propertyList = 16 << 20
    /// The maximum number of bytes of a file that are kept to be read a second time; longer files are opened again.
    package var held = 8 << 20
    /// The maximum number of bytes of one key or value, and of one line, that are searched.
    package var text = 64 << 10
    package var line = 4096
    /// The maximum number of groups of values of a file that are told apart, and of steps in the forms of their paths.
    package var groups = 500
    package var forms = 5000
    /// The maximum number of different values of one group, and of all groups of a file, that are told apart.
    package var values = 1000
    package var allValues = 5000
    /// The number of bytes by which values are told apart, and about which are kept of each.
    package var valueLength = 200
    /// The maximum number of bytes of a path, and of the form of one.
    package var path = 600
    /// The maximum number of groups, and of values of a group, that are listed.
    package var listedGroups = 20
    package var listedValues = 8

    /// Creates limits with the default values.
    package init() {}
  }

  /// The outcome of searching one file.
  package enum Outcome: Sendable, Hashable {
    /// The file was searched to its end.
    case searched(ContentFindings)
    /// The time was over after this share of the file, from 0 to 1.
    case unfinished(ContentFindings, share: Double)
    /// The file is neither text nor JSON nor a property list.
    case binary
    /// The file has more bytes than a limit.
    case tooLarge
  }

  /// What is found.
  package let query: ContentQuery
  /// The limits.
  package let limits: Limits
  /// Find what every JSON document with a match, and every text with one, contains; `nil` if nothing is known of that.
  fileprivate let documentScanner: LiteralScanner?
  fileprivate let textScanner: LiteralScanner?
  /// What is found in lines of text; `nil` if nothing is.
  fileprivate let textPattern: TextPattern?

  /// Creates a search.
  package init(_ query: ContentQuery, limits: Limits = Limits()) {
    (self.query, self.limits, textPattern) = (query, limits, query.inText)
    documentScanner = query.documentLiteral.flatMap { LiteralScanner($0) }
    textScanner = textPattern?.literal.flatMap { LiteralScanner($0) }
  }

  /// Searches a file.
  /// - Parameters:
  ///   - size: the number of its bytes.
  ///   - isOver: whether the search has to end. It is asked after each piece of the file.
  ///   - open: opens the file for reading.
  /// - Throws: The errors of `open` and of the function that it returns.
  package func search(
    size: Int64, isOver: @escaping () -> Bool = { false }, _ open: @escaping ContentOpening
  ) throws -> Outcome {
    guard size <= limits.file else { return .tooLarge }
    var run = ContentRun(self, size: size, isOver: isOver)
    do {
      return try run.search(ContentTape(limit: limits.held, open))
    } catch is ContentText.Invalid {
      return .binary
    }
  }

}

/// The search in one file.
private struct ContentRun {
  /// How a pass over the file ended.
  private enum End {
    case end, over
  }

  private static let pieceSize = 128 << 10

  private let search: ContentSearch
  private let size: Int64
  private let isOver: () -> Bool

  init(_ search: ContentSearch, size: Int64, isOver: @escaping () -> Bool) {
    (self.search, self.size, self.isOver) = (search, size, isOver)
  }

  mutating func search(_ tape: ContentTape) throws -> ContentSearch.Outcome {
    var tape = tape
    var head: [UInt8] = []
    while head.count < ContentHead.length, let piece = try tape.read() { head += piece }
    try tape.rewind()
    head = Array(head.prefix(ContentHead.length))
    if PropertyList.form(of: head) == .binary {
      return try search(.binary, tape.all(upTo: search.limits.propertyList)) ?? .binary
    }
    let end = (head.lastIndex { $0 != 0 } ?? -1) + 1
    let encoding = TextEncoding.of(head, length: end)
    var text = ContentText(tape, encoding)
    let start = try text.head()
    if PropertyList.form(of: start.bytes) == .xml {
      let all = try text.all(upTo: search.limits.propertyList)
      // Other XML and malformed property lists are text.
      let isOther = all == nil && !start.namesPropertyList
      if !isOther, let found = try search(.xml, all, ignoresEncoding: encoding != nil) { return found }
      try text.rewind()
    }
    if start.mayBeJSON {
      do { return try searchJSON(&text) } catch is JSONFailure { try text.rewind() }
    }
    return start.isText ? try searchLines(&text) : .binary
  }

  // MARK: - JSON

  /// Searches a property list; `nil` if it is malformed.
  private func search(
    _ form: PropertyList.Form, _ bytes: [UInt8]?, ignoresEncoding: Bool = false
  ) throws -> ContentSearch.Outcome? {
    var limits = PropertyList.Limits()
    (limits.size, limits.bytes) = (search.limits.propertyList, search.limits.propertyList)
    guard let bytes else { return .tooLarge }
    let json: [UInt8]
    do {
      let converted = try PropertyList.json(
        of: bytes, form, ignoresEncoding: ignoresEncoding, limits: limits)
      guard let converted else { return nil }
      json = converted
    } catch { return nil }
    var tally = ContentTally(search.limits)
    var document = ContentDocument(search, Int64(json.count))
    var rest = json[...]
    while !rest.isEmpty {
      if isOver() { return outcome(document, tally) }
      try document.take(Array(rest.prefix(Self.pieceSize)), &tally)
      rest = rest.dropFirst(Self.pieceSize)
    }
    try document.finish(&tally)
    return outcome(document, tally)
  }

  private func searchJSON(_ text: inout ContentText) throws -> ContentSearch.Outcome {
    if let scanner = search.documentScanner {
      switch try occurs(scanner, in: &text) {
      case nil:
        return .unfinished(ContentTally(search.limits).findings(isText: false, isSequence: false), share: 0)
      case false?:
        // Neither has it a match as text, if it turns out to be no JSON.
        return .searched(ContentTally(search.limits).findings(isText: false, isSequence: false))
      case true?: try text.rewind()
      }
    }
    var tally = ContentTally(search.limits)
    var document = ContentDocument(search, size)
    while let piece = try text.read() {
      if isOver() { return outcome(document, tally) }
      try document.take(piece, &tally)
    }
    try document.finish(&tally)
    return outcome(document, tally)
  }

  private func outcome(_ document: ContentDocument, _ tally: ContentTally) -> ContentSearch.Outcome {
    let findings = tally.findings(isText: false, isSequence: document.isSequence)
    return document.isComplete ? .searched(findings) : .unfinished(findings, share: document.share)
  }

  /// Whether the text can contain what the scanner finds; `nil` if the time is over before that is known.
  private func occurs(_ scanner: LiteralScanner, in text: inout ContentText) throws -> Bool? {
    var tail: [UInt8] = []
    while let piece = try text.read() {
      if isOver() { return nil }
      let joined = tail + piece
      if scanner.candidate(in: joined, from: 0) != nil { return true }
      tail = joined.suffix(scanner.overlap)
    }
    return false
  }

  // MARK: - Lines

  private func searchLines(_ text: inout ContentText) throws -> ContentSearch.Outcome {
    var tally = ContentTally(search.limits)
    guard let pattern = search.textPattern else {
      return .searched(tally.findings(isText: true, isSequence: false))
    }
    var lines = ContentLines(pattern, search.textScanner, limit: search.limits.line)
    var count: Int64 = 0
    while let piece = try text.read() {
      if isOver() {
        let share = size > 0 ? min(1, Double(count) / Double(size)) : 0
        return .unfinished(tally.findings(isText: true, isSequence: false), share: share)
      }
      count += Int64(piece.count)
      lines.take(piece, &tally)
    }
    lines.finish(&tally)
    return .searched(tally.findings(isText: true, isSequence: false))
  }
}

/// Finds the matches in the JSON documents of a file.
private struct ContentDocument {
  private var tokenizer: JSONTokenizer
  private var matcher: ContentMatcher
  private let size: Int64
  /// The match in the key that was read last, and the number of containers around it.
  private var key: ContentMatcher.Match?
  private var mayContinue = false
  private(set) var isComplete = false

  init(_ search: ContentSearch, _ size: Int64) {
    var configuration = JSONTokenizer.Configuration()
    configuration.textLength = search.limits.text
    configuration.allowsSequence = true
    tokenizer = JSONTokenizer(configuration)
    matcher = ContentMatcher(search.query)
    self.size = size
  }

  var isSequence: Bool { matcher.documents > 1 }

  /// The share of the file that was read.
  var share: Double { size > 0 ? min(1, Double(tokenizer.offset) / Double(size)) : 0 }

  /// Takes the next bytes.
  mutating func take(_ piece: [UInt8], _ tally: inout ContentTally) throws(JSONFailure) {
    tokenizer.feed(piece)
    try read(&tally)
  }

  /// Takes the end of the file.
  mutating func finish(_ tally: inout ContentTally) throws(JSONFailure) {
    tokenizer.finish()
    try read(&tally)
    guard matcher.documents > 0 else { throw tokenizer.failure }
    isComplete = true
  }

  private mutating func read(_ tally: inout ContentTally) throws(JSONFailure) {
    while let token = try tokenizer.next() {
      if matcher.depth == 1, token != .key { try begin(token) }
      let match = matcher.take(token, tokenizer.text)
      if match != nil { tally.countHit() }
      if token == .key {
        key = match
      } else if let found = match ?? key {
        let (type, text) = value(token)
        // The value of a key that matches is listed, whether or not it matches too.
        tally.add(type, text, match?.found, in: &matcher, depth: found.depth)
        key = nil
      }
    }
  }

  /// Checks that a document may begin, as an index does: words and numbers in a row are text rather than JSON Lines.
  private mutating func begin(_ token: JSONTokenizer.Token) throws(JSONFailure) {
    if matcher.documents == 0 {
      mayContinue = token == .beginObject || token == .beginArray
    } else if !mayContinue, !tokenizer.isSeparated {
      throw tokenizer.failure
    }
  }

  private func value(_ token: JSONTokenizer.Token) -> (ContentType, [UInt8]) {
    switch token {
    case .string: (.string, tokenizer.text)
    case .number: (.number, tokenizer.text)
    case .boolean(let value): (.boolean, Array((value ? "true" : "false").utf8))
    case .null: (.null, Array("null".utf8))
    case .beginObject: (.object, Array("{…}".utf8))
    case .beginArray: (.array, Array("[…]".utf8))
    case .key, .endObject, .endArray: (.null, [])
    }
  }
}

/// Finds the matches in the lines of a text.
private struct ContentLines {
  private let pattern: TextPattern
  private let scanner: LiteralScanner?
  private let limit: Int
  private var number = 0
  /// The beginning of a line whose end was not read.
  private var line: [UInt8] = []

  init(_ pattern: TextPattern, _ scanner: LiteralScanner?, limit: Int) {
    (self.pattern, self.scanner, self.limit) = (pattern, scanner, limit)
  }

  mutating func take(_ piece: [UInt8], _ tally: inout ContentTally) {
    var rest = piece[...]
    while !rest.isEmpty {
      // Lines before the next place at which the text can be are only counted.
      if line.isEmpty, let scanner {
        let place =
          scanner.candidate(in: piece, from: rest.startIndex)
          ?? max(rest.startIndex, piece.count - scanner.overlap)
        let start = rest[..<place].lastIndex(of: 0x0A).map { $0 + 1 } ?? rest.startIndex
        for byte in rest[..<start] where byte == 0x0A { number += 1 }
        rest = rest[start...]
      }
      guard let end = rest.firstIndex(of: 0x0A) else {
        line += rest.prefix(max(0, limit - line.count))
        return
      }
      line += rest[..<end].prefix(max(0, limit - line.count))
      endLine(&tally)
      rest = rest[(end + 1)...]
    }
  }

  mutating func finish(_ tally: inout ContentTally) {
    if !line.isEmpty { endLine(&tally) }
  }

  private mutating func endLine(_ tally: inout ContentTally) {
    var text = line[...]
    if text.last == 0x0D { text = text.dropLast() }
    if number == 0, text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
    if let match = pattern.match(in: text) {
      tally.countHit()
      tally.add(line: number, text, match)
    }
    number += 1
    line.removeAll(keepingCapacity: true)
  }
}

extension ContentHead {
  /// Whether the beginning of XML has the element of a property list.
  fileprivate var namesPropertyList: Bool {
    String(decoding: bytes.prefix(4096), as: UTF8.self).contains("<plist")
  }
}
