package import JSONText

/// Reads an HTTP archive (HAR 1.2) part by part, in constant memory, from bytes that arrive in pieces.
package struct ArchiveReader {
  /// The object whose member is read.
  package enum Place: Hashable, Sendable {
    /// The document itself.
    case document
    /// Its member `log`.
    case log
  }

  /// A part of an archive, in the order of the file.
  package enum Part: Hashable, Sendable {
    /// `log` begins, or ends.
    case beginLog, endLog
    /// A member other than `log` and `entries`.
    case member(Place, ArchiveValue.Member)
    /// The list of entries begins, or ends.
    case beginEntries, endEntries
    /// An entry. If it exceeds ``ArchiveLimits/entrySize``, `isWhole` is false, and only its beginning is here.
    case entry(ArchiveValue, isWhole: Bool)
  }

  private enum State { case start, document, log, entries, end }

  private let limits: ArchiveLimits
  private let source: () throws -> [UInt8]?
  private var tokenizer: JSONTokenizer
  private var numbers = NonFiniteNumbers()
  private var isAtEnd = false
  private var state = State.start
  private var hasLog = false
  private var hasEntries = false
  private var entries = 0
  private var membersSize = 0

  /// Starts reading the pieces that `source` returns, until it returns `nil`.
  package init(limits: ArchiveLimits = ArchiveLimits(), _ source: @escaping () throws -> [UInt8]?) {
    (self.limits, self.source) = (limits, source)
    var configuration = JSONTokenizer.Configuration()
    configuration.depth = limits.depth
    configuration.textLength = limits.entrySize
    configuration.keepsEscapes = true
    tokenizer = JSONTokenizer(configuration)
  }

  /// The next part; `nil` at the end of a complete archive.
  /// - Throws: An ``ArchiveError``, or the error of the source.
  package mutating func next() throws -> Part? {
    switch state {
    case .start:
      guard try token() == .beginObject else { throw ArchiveError.notAnArchive("it is not an object") }
      state = .document
      return try next()
    case .document: return try member(of: .document)
    case .log: return try member(of: .log)
    case .entries: return try entry()
    case .end: return nil
    }
  }

  private mutating func member(of place: Place) throws -> Part? {
    guard try token() == .key else {
      if place == .log {
        guard hasEntries else { throw ArchiveError.notAnArchive("its log has no list ‘entries’") }
        state = .document
        return .endLog
      }
      guard hasLog else { throw ArchiveError.notAnArchive("it has no object ‘log’") }
      // Only white space can follow.
      _ = try nextToken()
      state = .end
      return nil
    }
    let name = String(decoding: ArchiveValue.string(tokenizer.text).bytes ?? tokenizer.text, as: UTF8.self)
    switch (place, name) {
    case (.document, "log"):
      guard try !hasLog && token() == .beginObject else {
        throw ArchiveError.notAnArchive(hasLog ? "it has two logs" : "its log is not an object")
      }
      (hasLog, state) = (true, .log)
      return .beginLog
    case (.log, "entries"):
      guard try !hasEntries && token() == .beginArray else {
        throw ArchiveError.notAnArchive(
          hasEntries ? "it has two lists of entries" : "its entries are not a list")
      }
      (hasEntries, state) = (true, .entries)
      return .beginEntries
    default:
      var builder = ArchiveValueBuilder(limit: limits.entrySize - membersSize)
      builder.count(name.utf8.count)
      let value = try self.value(&builder, try token())
      membersSize += builder.size
      guard builder.isWhole else {
        throw ArchiveError.limit(
          "has more than \(limits.entrySize) bytes beside its entries; the limit is that of an entry")
      }
      return .member(place, .init(name, value))
    }
  }

  private mutating func entry() throws -> Part? {
    let first = try token()
    guard first != .endArray else {
      state = .log
      return .endEntries
    }
    entries += 1
    guard first == .beginObject else {
      throw ArchiveError.notAnArchive("its entry \(entries) is not an object")
    }
    guard entries <= limits.entries else {
      throw ArchiveError.limit("has more than \(limits.entries) entries; split it into several archives")
    }
    var builder = ArchiveValueBuilder(limit: limits.entrySize)
    let value = try self.value(&builder, first)
    return .entry(value, isWhole: builder.isWhole)
  }

  /// Reads the value that begins with the token `first`.
  private mutating func value(
    _ builder: inout ArchiveValueBuilder, _ first: JSONTokenizer.Token
  ) throws -> ArchiveValue {
    var next = first
    while true {
      if let value = builder.take(next, tokenizer.text, length: tokenizer.textLength) { return value }
      next = try token()
    }
  }

  /// The next token of a document that has not ended.
  private mutating func token() throws -> JSONTokenizer.Token {
    guard let token = try nextToken() else {
      throw ArchiveError.notAnArchive("it ends unexpectedly")
    }
    return token
  }

  private mutating func nextToken() throws -> JSONTokenizer.Token? {
    while true {
      do {
        if let token = try tokenizer.next() { return token }
      } catch {
        throw ArchiveError.notJSON(error)
      }
      guard !isAtEnd else { return nil }
      let piece = try source()
      let bytes = numbers.replace(in: piece)
      if !bytes.isEmpty { tokenizer.feed(bytes) }
      if piece == nil {
        isAtEnd = true
        tokenizer.finish()
      }
    }
  }
}

/// Builds a value from tokens, up to a limit of its size. Then it keeps the beginning, and passes over the rest.
private struct ArchiveValueBuilder {
  private struct Container {
    let isObject: Bool
    var members: [ArchiveValue.Member] = []
    var places: [String: Int] = [:]
    var elements: [ArchiveValue] = []
    var name = ""

    mutating func add(_ value: ArchiveValue) {
      guard isObject else { return elements.append(value) }
      if let place = places[name] {
        members[place].value = value
      } else {
        places[name] = members.count
        members.append(.init(name, value))
      }
    }

    var value: ArchiveValue { isObject ? .object(members) : .array(elements) }
  }

  private let limit: Int
  private(set) var size = 0
  private var open: [Container] = []
  /// The number of open containers that began after the limit was reached.
  private var skipped = 0

  init(limit: Int) { self.limit = limit }

  var isWhole: Bool { size <= limit }

  /// Counts `bytes` and a value.
  mutating func count(_ bytes: Int) {
    size = min(size + bytes + ArchiveLimits.valueSize, .max / 2)
  }

  /// Takes a token, and returns the value if it ends with it.
  mutating func take(_ token: JSONTokenizer.Token, _ text: [UInt8], length: Int) -> ArchiveValue? {
    switch token {
    case .beginObject, .beginArray:
      count(0)
      if isWhole || open.isEmpty {
        open.append(Container(isObject: token == .beginObject))
      } else {
        skipped += 1
      }
      return nil
    case .endObject, .endArray:
      guard skipped == 0 else {
        skipped -= 1
        return nil
      }
      guard let ended = open.popLast() else { return nil }
      // A container that was open when the limit was reached is kept, with what was before.
      guard let last = open.indices.last else { return ended.value }
      open[last].add(ended.value)
      return nil
    case .key:
      count(length)
      if isWhole, let last = open.indices.last {
        open[last].name = String(decoding: ArchiveValue.string(text).bytes ?? text, as: UTF8.self)
      }
      return nil
    case .string: return add(length) { .string(text) }
    case .number: return add(length) { .number(text) }
    case .boolean(let value): return add(0) { .boolean(value) }
    case .null: return add(0) { .null }
    }
  }

  private mutating func add(_ length: Int, _ value: () -> ArchiveValue) -> ArchiveValue? {
    count(length)
    guard let last = open.indices.last else { return isWhole ? value() : .null }
    if isWhole { open[last].add(value()) }
    return nil
  }
}

/// The reason why a file is refused as an HTTP archive.
package enum ArchiveError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It is not JSON, or ends too early.
  case notJSON(JSONFailure)
  /// It is JSON, but no HTTP archive.
  case notAnArchive(String)
  /// It exceeds a limit.
  case limit(String)

  /// The reason, without a full stop, for a sentence that names the file.
  package var description: String {
    switch self {
    case .notJSON(let failure) where failure.reason == .incomplete:
      "is truncated: \(failure)"
    case .notJSON(let failure) where failure.isDepth: "is no HTTP archive: \(failure)"
    case .notJSON(let failure): "is no HTTP archive (HAR), because it is not JSON: \(failure)"
    case .notAnArchive(let reason): "is no HTTP archive (HAR): \(reason)"
    case .limit(let reason): reason
    }
  }
}
