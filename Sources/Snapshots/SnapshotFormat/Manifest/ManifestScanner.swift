import Foundation
import JSONText
import SystemIO

/// Reads the values that a manifest is made of out of its JSON.
///
/// What is wrong with one value is told when all are read: which of several problems is told does not depend on the
/// order of the keys, and a newer format is recognized whatever else has changed in it.
struct ManifestScanner {
  /// Why a value was not read.
  enum Failure: Error {
    /// It is not what it should be; the rest can be read.
    case problem(ManifestProblem)
    /// Nothing more can be read.
    case refused(BundleError)
  }

  /// A value, or what is wrong with it.
  typealias Reading<Value> = Result<Value, ManifestProblem>

  /// The first key that was twice in one object.
  private(set) var repeatedKey: String?

  private let limits: Manifest.Limits
  private let textLength: Int
  private var json: JSONReader
  /// A token that was looked at and not taken.
  private var upcoming: JSONTokenizer.Token?
  /// Where what is not known has to end.
  private var unknownEnd: Int?

  /// Begins to read what `source` gives.
  init(limits: Manifest.Limits, source: @escaping () throws(BundleError) -> [UInt8]?) {
    self.limits = limits
    textLength = max(
      limits.identifierLength, limits.descriptionLength, limits.redactionLength, limits.unknownLength)
    var configuration = JSONTokenizer.Configuration()
    configuration.textLength = textLength
    json = JSONReader(configuration, source: source)
  }

  /// How many objects and arrays are open around the next token.
  private var depth: Int {
    json.tokenizer.depth - (upcoming == .beginObject || upcoming == .beginArray ? 1 : 0)
  }

  /// Reads a value by `read`; what is left of it where something is wrong with it is passed over.
  mutating func attempt<Value>(
    _ read: (inout Self) throws(Failure) -> Value
  ) throws(Failure) -> Reading<Value> {
    let depth = depth
    do throws(Failure) {
      return .success(try read(&self))
    } catch {
      guard case .problem(let problem) = error else { throw error }
      while self.depth > depth { _ = try next() }
      return .failure(problem)
    }
  }

  /// The next token; `nil` at the document's end.
  mutating func next() throws(Failure) -> JSONTokenizer.Token? {
    if let token = upcoming {
      upcoming = nil
      return token
    }
    if let unknownEnd, json.tokenizer.offset > unknownEnd { throw .refused(limits.tooMuchUnknown) }
    do throws(JSONReader.Stop) {
      return try json.next()
    } catch {
      switch error {
      case .source(let error): throw .refused(error)
      case .malformed(let failure) where failure.isDepth: throw .refused(.manifestMalformed("\(failure)"))
      case .malformed(let failure): throw .refused(.manifestMalformed("it is no JSON in UTF-8: \(failure)"))
      }
    }
  }

  /// The text of the token that was read last.
  private func text() throws(Failure) -> String {
    guard json.tokenizer.isUnicode else {
      throw .refused(.manifestMalformed("it is no JSON in UTF-8: a text has half a character"))
    }
    guard json.tokenizer.textLength <= textLength else {
      throw .problem(
        ManifestProblem(.wrong("it has \(json.tokenizer.textLength) bytes, the most are \(textLength)")))
    }
    return String(decoding: json.tokenizer.text, as: UTF8.self)
  }
}

// MARK: - Values

extension ManifestScanner {
  /// A text.
  mutating func string() throws(Failure) -> String {
    try expect(.string, "a text")
    return try text()
  }

  /// A digest.
  mutating func digest() throws(Failure) -> ContentDigest {
    try expect(.string, "a text")
    if let digest = ContentDigest(hexadecimal: json.tokenizer.text[...]) { return digest }
    throw .problem(ManifestProblem(.wrong("‘\(try text().prefix(200))’ is not 64 hexadecimal digits")))
  }

  /// A time.
  mutating func time() throws(Failure) -> Date {
    try expect(.string, "a text")
    if let time = UTCTime.milliseconds(rfc3339: json.tokenizer.text[...]) {
      return Date(timeIntervalSince1970: Double(time) / 1000)
    }
    throw .problem(ManifestProblem(.wrong("‘\(try text().prefix(200))’ is not a time as in RFC 3339")))
  }

  /// A number without a fraction; it may be spelt with one.
  mutating func integer() throws(Failure) -> Int64 {
    try expect(.number, "a whole number")
    let text = try text()
    if let value = Self.integer(text) { return value }
    throw .problem(
      ManifestProblem(.wrong("\(text.prefix(200)) has a fraction, or is too large for a whole number")))
  }

  private static func integer(_ text: String) -> Int64? {
    Int64(text) ?? Double(text).flatMap(Int64.init(exactly:))
  }

  /// A value that may be missing or `null`.
  mutating func optional<Value>(_ read: (inout Self) throws(Failure) -> Value) throws(Failure) -> Value? {
    do throws(Failure) {
      return try read(&self)
    } catch {
      if case .problem(let problem) = error, case .null = problem.kind, problem.place.isEmpty { return nil }
      throw error
    }
  }

  private mutating func expect(_ expected: JSONTokenizer.Token, _ name: String) throws(Failure) {
    let token = try next()
    guard token == expected else {
      throw .problem(ManifestProblem(token == .null ? .null : .mismatch(name)))
    }
  }

  /// The elements of an array, one after the other.
  /// - Parameter plain: Reads an element as a whole, before it is looked at otherwise; answers `false` where it can't.
  mutating func array(
    plain: (inout Self) throws(Failure) -> Bool = { _ in false },
    _ element: (inout Self) throws(Failure) -> Void
  ) throws(Failure) {
    try expect(.beginArray, "a list")
    var index = 0
    while true {
      while try plain(&self) { index += 1 }
      if try takesEnd() { return }
      do throws(Failure) {
        try element(&self)
      } catch {
        guard case .problem(let problem) = error else { throw error }
        throw .problem(problem.below(index))
      }
      index += 1
    }
  }

  /// The members of an object; `member` reads the value of a key that it knows, and answers `false` of any other, which
  /// is passed over.
  mutating func object(_ member: (inout Self, String) throws(Failure) -> Bool) throws(Failure) {
    try object(unknown: { scanner, _ throws(Failure) in try scanner.pass() }, member)
  }

  /// The members of an object, of which `unknown` reads those that `member` does not know.
  mutating func object(
    unknown: (inout Self, String) throws(Failure) -> Void,
    _ member: (inout Self, String) throws(Failure) -> Bool
  ) throws(Failure) {
    try expect(.beginObject, "an object")
    var keys = KeySet()
    var unknownLength = 0
    while try next() == .key {
      let start = json.tokenizer.range.lowerBound
      let key = try text()
      let isNew = keys.insert(key)
      if !isNew { repeatedKey = repeatedKey ?? key }
      if isNew, try member(&self, key) { continue }
      unknownEnd = start + limits.unknownLength - unknownLength
      if isNew { try unknown(&self, key) } else { try pass() }
      unknownEnd = nil
      unknownLength += json.tokenizer.offset - start
      if unknownLength > limits.unknownLength { throw .refused(limits.tooMuchUnknown) }
    }
  }

  /// The next element of the array that is open, if it is a recording that is spelt as writers spell it.
  mutating func plainRecording() -> Manifest.Recording? {
    let textLength = textLength
    return json.takeElement { PlainRecording.read($0, from: $1, textLength: textLength) }
  }

  /// Passes over a value.
  private mutating func pass() throws(Failure) {
    var open: [KeySet] = []
    repeat {
      switch try next() {
      case .beginObject, .beginArray: open.append(KeySet())
      case .endObject, .endArray: open.removeLast()
      case .key: try note(text(), in: &open[open.count - 1])
      default: break
      }
    } while !open.isEmpty
  }

  private mutating func note(_ key: String, in keys: inout KeySet) {
    if !keys.insert(key) { repeatedKey = repeatedKey ?? key }
  }

  /// Any value that is nested no deeper than ``JSONValue/maximumDepth`` below the top.
  mutating func value() throws(Failure) -> JSONValue {
    guard depth <= JSONValue.maximumDepth else {
      throw .problem(
        ManifestProblem(.wrong("a value is nested deeper than \(JSONValue.maximumDepth) levels")))
    }
    switch try next() {
    case .boolean(let value): return .boolean(value)
    case .string: return .string(try text())
    case .number:
      let text = try text()
      if let value = Self.integer(text) { return .integer(value) }
      guard let value = Double(text), value.isFinite else {
        throw .problem(ManifestProblem(.wrong("\(text.prefix(200)) is too large for a number")))
      }
      return .number(value)
    case .beginArray:
      var values: [JSONValue] = []
      while try !takesEnd() { values.append(try value()) }
      return .array(values)
    case .beginObject:
      var keys = KeySet()
      var members: [String: JSONValue] = [:]
      while try next() == .key {
        let key = try text()
        note(key, in: &keys)
        members[key] = try value()
      }
      return .object(members)
    default: return .null
    }
  }

  /// Takes the end of an array, if it stands next.
  private mutating func takesEnd() throws(Failure) -> Bool {
    let token = try next()
    if token == .endArray { return true }
    upcoming = token
    return false
  }
}
