import Foundation
import JSONText
import SystemIO

/// Reads the values of a manifest from its JSON.
///
/// Errors in single values are reported after all values are read. The reported error therefore does not depend on the
/// order of keys, and a newer format is recognized even if its keys have changed.
struct ManifestScanner {
  /// The reason why a value could not be read.
  enum Failure: Error {
    /// The value is wrong. Reading can continue after it.
    case problem(ManifestProblem)
    /// Reading cannot continue.
    case refused(BundleError)
  }

  /// A value, or the error in it.
  typealias Reading<Value> = Result<Value, ManifestProblem>

  /// The first key that occurred twice in one object. Parsers differ in the value that they use for such a key, so the
  /// document would have different meanings (RFC 8259 §4).
  private(set) var repeatedKey: String?

  private let limits: Manifest.Limits
  private let textLength: Int
  private var json: JSONReader
  /// A token that was read ahead.
  private var upcoming: JSONTokenizer.Token?
  /// The maximum offset at which an unknown value must end.
  private var unknownEnd: Int?

  /// Starts reading the pieces that `source` returns.
  init(limits: Manifest.Limits, source: @escaping () throws(BundleError) -> [UInt8]?) {
    self.limits = limits
    textLength = max(
      limits.identifierLength, limits.descriptionLength, limits.redactionLength, limits.unknownLength)
    var configuration = JSONTokenizer.Configuration()
    configuration.textLength = textLength
    json = JSONReader(configuration, source: source)
  }

  /// The number of objects and arrays that contain the next token.
  private var depth: Int {
    json.tokenizer.depth - (upcoming == .beginObject || upcoming == .beginArray ? 1 : 0)
  }

  /// Reads a value with `read`. If the value is wrong, skips the rest of it.
  mutating func attempt<Value>(
    _ read: (inout Self) throws(Failure) -> Value
  ) throws(Failure) -> Reading<Value> {
    let depth = depth
    do {
      return .success(try read(&self))
    } catch {
      guard case .problem(let problem) = error else { throw error }
      while self.depth > depth { _ = try next() }
      return .failure(problem)
    }
  }

  /// The next token; `nil` at the end of the document.
  mutating func next() throws(Failure) -> JSONTokenizer.Token? {
    if let token = upcoming {
      upcoming = nil
      return token
    }
    if let unknownEnd, json.tokenizer.offset > unknownEnd { throw .refused(limits.tooMuchUnknown) }
    do {
      return try json.next()
    } catch {
      switch error {
      case .source(let error): throw .refused(error)
      case .malformed(let failure) where failure.isDepth: throw .refused(.manifestMalformed("\(failure)"))
      case .malformed(let failure): throw .refused(.manifestMalformed("it is not JSON in UTF-8: \(failure)"))
      }
    }
  }

  /// The text of the last token.
  private func text() throws(Failure) -> String {
    guard json.tokenizer.isUnicode else {
      throw .refused(.manifestMalformed("it is not JSON in UTF-8: a string contains an unpaired surrogate"))
    }
    guard json.tokenizer.textLength <= textLength else {
      throw .problem(
        ManifestProblem(.wrong("it has \(json.tokenizer.textLength) bytes; the limit is \(textLength)")))
    }
    return String(decoding: json.tokenizer.text, as: UTF8.self)
  }
}

// MARK: - Values

extension ManifestScanner {
  /// Reads a string.
  mutating func string() throws(Failure) -> String {
    try expect(.string, "a string")
    return try text()
  }

  /// Reads a digest.
  mutating func digest() throws(Failure) -> ContentDigest {
    try expect(.string, "a string")
    if let digest = ContentDigest(hexadecimal: json.tokenizer.text[...]) { return digest }
    throw .problem(ManifestProblem(.wrong("‘\(try text().prefix(200))’ is not 64 hexadecimal digits")))
  }

  /// Reads a time.
  mutating func time() throws(Failure) -> Date {
    try expect(.string, "a string")
    if let time = UTCTime.milliseconds(rfc3339: json.tokenizer.text[...]) {
      return Date(timeIntervalSince1970: Double(time) / 1000)
    }
    throw .problem(ManifestProblem(.wrong("‘\(try text().prefix(200))’ is not a time as in RFC 3339")))
  }

  /// Reads an integer. It can be written with a fraction or exponent, such as `1.0`.
  mutating func integer() throws(Failure) -> Int64 {
    try expect(.number, "an integer")
    let text = try text()
    if let value = Self.integer(text) { return value }
    throw .problem(
      ManifestProblem(.wrong("\(text.prefix(200)) has a fraction or is too large for an integer")))
  }

  private static func integer(_ text: String) -> Int64? {
    Int64(text) ?? Double(text).flatMap(Int64.init(exactly:))
  }

  /// Reads a value that can be `null`.
  mutating func optional<Value>(_ read: (inout Self) throws(Failure) -> Value) throws(Failure) -> Value? {
    do {
      return try read(&self)
    } catch {
      if case .problem(let problem) = error, case .null = problem.kind, problem.place.isEmpty { return nil }
      throw error
    }
  }

  /// Reads an object with strings as values and arbitrary keys. Refuses one with more than `most` members.
  mutating func texts(most: Int = .max) throws(Failure) -> [String: String] {
    var texts: [String: String] = [:]
    try object { scanner, key throws(Failure) in
      guard texts.count < most else {
        throw .problem(ManifestProblem(.wrong("there are more than \(most) members")))
      }
      texts[key] = try Self.require(scanner.attempt { json throws(Failure) in try json.string() }, key)
      return true
    }
    return texts
  }

  private mutating func expect(_ expected: JSONTokenizer.Token, _ name: String) throws(Failure) {
    let token = try next()
    guard token == expected else {
      throw .problem(ManifestProblem(token == .null ? .null : .mismatch(name)))
    }
  }

  /// Reads the elements of an array one after the other.
  mutating func array(_ element: (inout Self) throws(Failure) -> Void) throws(Failure) {
    try expect(.beginArray, "an array")
    var index = 0
    while true {
      if try takesEnd() { return }
      do {
        try element(&self)
      } catch {
        guard case .problem(let problem) = error else { throw error }
        throw .problem(problem.below(index))
      }
      index += 1
    }
  }

  /// Reads the members of an object. `member` reads the value of a key, or returns `false` if the key is unknown; the
  /// value is then skipped.
  mutating func object(_ member: (inout Self, String) throws(Failure) -> Bool) throws(Failure) {
    try object(unknown: { scanner, _ throws(Failure) in try scanner.pass() }, member)
  }

  /// Reads the members of an object. `unknown` reads the values of keys for which `member` returned `false`.
  mutating func object(
    unknown: (inout Self, String) throws(Failure) -> Void,
    _ member: (inout Self, String) throws(Failure) -> Bool
  ) throws(Failure) {
    try expect(.beginObject, "an object")
    var keys: Set<String> = []
    var unknownLength = 0
    while try next() == .key {
      let start = json.tokenizer.range.lowerBound
      let key = try text()
      let isNew = keys.insert(key).inserted
      if !isNew { repeatedKey = repeatedKey ?? key }
      if isNew, try member(&self, key) { continue }
      unknownEnd = start + limits.unknownLength - unknownLength
      if isNew { try unknown(&self, key) } else { try pass() }
      unknownEnd = nil
      unknownLength += json.tokenizer.offset - start
      if unknownLength > limits.unknownLength { throw .refused(limits.tooMuchUnknown) }
    }
  }

  /// Skips a value.
  fileprivate mutating func pass() throws(Failure) {
    var open: [Set<String>] = []
    repeat {
      switch try next() {
      case .beginObject, .beginArray: open.append([])
      case .endObject, .endArray: open.removeLast()
      case .key: try insert(text(), in: &open[open.count - 1])
      default: break
      }
    } while !open.isEmpty
  }

  private mutating func insert(_ key: String, in keys: inout Set<String>) {
    if !keys.insert(key).inserted { repeatedKey = repeatedKey ?? key }
  }

  /// Reads any value that is nested at most ``JSONValue/maximumDepth`` levels below the top.
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
      var members: [String: JSONValue] = [:]
      while try next() == .key {
        let key = try text()
        if members.keys.contains(key) { repeatedKey = repeatedKey ?? key }
        members[key] = try value()
      }
      return .object(members)
    default: return .null
    }
  }

  /// Consumes the end of the array, if it is next.
  private mutating func takesEnd() throws(Failure) -> Bool {
    let token = try next()
    if token == .endArray { return true }
    upcoming = token
    return false
  }
}

/// Reads the objects of a manifest. Unknown keys are skipped.
extension ManifestScanner {
  /// The value of a required key. Throws if it is missing or wrong.
  static func require<Value>(_ reading: Reading<Value>?, _ key: String) throws(Failure) -> Value {
    switch reading {
    case .success(let value): return value
    case .failure(let problem): throw .problem(problem.below(key))
    case nil: throw .problem(ManifestProblem(.missing, at: key))
    }
  }

  mutating func id() throws(Failure) -> SnapshotID {
    let text = try string()
    if let id = SnapshotID(text) { return id }
    throw .problem(ManifestProblem(.wrong("‘\(text.prefix(200))’ is not a UUID")))
  }

  mutating func report() throws(Failure) -> ReportID {
    let text = try string()
    do {
      return try ReportID(validating: text)
    } catch {
      // The message becomes part of another sentence, so its full stop is removed.
      throw .problem(ManifestProblem(.wrong(String(error.description.dropLast()))))
    }
  }

  mutating func application() throws(Failure) -> Manifest.Application {
    var (identifier, version, build): (Reading<String>?, Reading<String>?, Reading<String>?)
    try object { scanner, key throws(Failure) in
      switch key {
      case "identifier": identifier = try scanner.attempt { json throws(Failure) in try json.string() }
      case "version": version = try scanner.attempt { json throws(Failure) in try json.string() }
      case "build": build = try scanner.attempt { json throws(Failure) in try json.string() }
      default: return false
      }
      return true
    }
    return Manifest.Application(
      identifier: try Self.require(identifier, "identifier"), version: try Self.require(version, "version"),
      build: try Self.require(build, "build"))
  }

  mutating func device() throws(Failure) -> Manifest.Device {
    var (model, system): (Reading<String>?, Reading<String>?)
    var (systemVersion, locale): (Reading<String>?, Reading<String>?)
    try object { scanner, key throws(Failure) in
      switch key {
      case "model": model = try scanner.attempt { json throws(Failure) in try json.string() }
      case "system": system = try scanner.attempt { json throws(Failure) in try json.string() }
      case "systemVersion": systemVersion = try scanner.attempt { json throws(Failure) in try json.string() }
      case "locale": locale = try scanner.attempt { json throws(Failure) in try json.string() }
      default: return false
      }
      return true
    }
    return Manifest.Device(
      model: try Self.require(model, "model"), system: try Self.require(system, "system"),
      systemVersion: try Self.require(systemVersion, "systemVersion"),
      locale: try Self.require(locale, "locale"))
  }

  /// - Parameter keeps: Called with each text. Returns whether it is within the limit and kept.
  mutating func module(_ keeps: (String) -> Bool) throws(Failure) -> Module {
    var name: Reading<String>?
    var files: Reading<[String]>?
    try object { scanner, key throws(Failure) in
      switch key {
      case "name":
        name = try scanner.attempt { json throws(Failure) in try json.string() }
        if case .success(let name) = name { _ = keeps(name) }
      case "files":
        files = try scanner.attempt { scanner throws(Failure) in
          var files: [String] = []
          try scanner.array { scanner throws(Failure) in
            let file = try scanner.string()
            if keeps(file) { files.append(file) }
          }
          return files
        }
      default: return false
      }
      return true
    }
    return Module(name: try Self.require(name, "name"), files: try Self.require(files, "files"))
  }

  mutating func recording() throws(Failure) -> Manifest.Recording {
    var (identifier, path): (Reading<String>?, Reading<String>?)
    var size: Reading<Int64>?
    var sha256: Reading<ContentDigest>?
    var recordedAt: Reading<Date>?
    var call: Reading<Int64?>?
    var exchange: Manifest.Exchange?
    // Read as older readers do, which do not know it: a value that is not understood is ignored.
    let unknown = { (scanner: inout Self, key: String) throws(Failure) in
      guard key == "exchange" else { return try scanner.pass() }
      let start = scanner.json.tokenizer.offset
      let value = try scanner.attempt { json throws(Failure) in try json.value() }
      guard scanner.json.tokenizer.offset - start <= Manifest.Exchange.readLimit else { return }
      if case .success(let json) = value { exchange = Manifest.Exchange(json: json) }
    }
    try object(unknown: unknown) { scanner, key throws(Failure) in
      switch key {
      case "identifier": identifier = try scanner.attempt { json throws(Failure) in try json.string() }
      case "path": path = try scanner.attempt { json throws(Failure) in try json.string() }
      case "size": size = try scanner.attempt { json throws(Failure) in try json.integer() }
      case "sha256": sha256 = try scanner.attempt { json throws(Failure) in try json.digest() }
      case "recordedAt": recordedAt = try scanner.attempt { json throws(Failure) in try json.time() }
      case "call":
        call = try scanner.attempt { scanner throws(Failure) in
          try scanner.optional { json throws(Failure) in try json.integer() }
        }
      default: return false
      }
      return true
    }
    return Manifest.Recording(
      identifier: try Self.require(identifier, "identifier"), path: try Self.require(path, "path"),
      size: try Self.require(size, "size"), sha256: try Self.require(sha256, "sha256"),
      recordedAt: try Self.require(recordedAt, "recordedAt"),
      call: try Self.require(call ?? .success(nil), "call").map { Int($0) }, exchange: exchange)
  }
}

extension SnapshotJSON {
  /// Whether an object in a document contains a key twice. `JSONDecoder` would use one of the values.
  package static func repeatsKey(_ json: [UInt8]) throws -> Bool {
    // No value can be longer than the document.
    var limits = Manifest.Limits()
    limits.unknownLength = json.count
    var rest: [UInt8]? = json
    var scanner = ManifestScanner(limits: limits) {
      defer { rest = nil }
      return rest
    }
    try scanner.pass()
    return scanner.repeatedKey != nil
  }
}
