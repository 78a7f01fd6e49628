/// Reads JSON (RFC 8259, in UTF-8) token by token from bytes that come in pieces of any size: a value that is fed, and
/// takes memory for its depth and for one text at a time, both within its ``Configuration``.
///
///     tokenizer.feed(piece)
///     while let token = try tokenizer.next() { … }
///
/// Whether a key is there twice in one object is left to whoever reads. A byte order mark at the beginning is passed
/// over (§8.1). Behind an error nothing more can be read.
public struct JSONTokenizer: Sendable {
  /// How much is read and kept, and how.
  public struct Configuration: Sendable, Hashable {
    /// The deepest nesting of objects and arrays; what is nested deeper is refused.
    public var depth = 512
    /// The most bytes of one text or number that are kept; the rest is read and counted.
    public var textLength = Int.max
    /// Whether texts are kept as they are spelled, without what their escapes stand for.
    public var keepsEscapes = false
    /// Whether it also reads what RFC 8259 does not allow and many programs write: several documents in a row (JSON
    /// Lines), numbers with leading zeros, and escapes of any character, which stand for that character.
    package var isLenient = false

    /// The values above.
    public init() {}
  }

  /// What stands in a document. Keys, strings and numbers are in ``text``.
  public enum Token: Sendable, Hashable {
    case beginObject, endObject, beginArray, endArray, key, string, number, boolean(Bool), null
  }

  /// What may stand next, outside a text, number or word.
  enum Expectation { case value, valueOrEnd, key, keyOrEnd, colon, separator, nothing }

  /// What is begun and not read to its end.
  enum Lexeme: Equatable {
    case none
    case mark(Int)
    case text
    case escape
    /// Within `\u`: how many of its digits were read, and what they stand for.
    case digits(count: Int, value: UInt32)
    case number(JSONNumber)
    case word(Word, matched: Int)
  }

  enum Word { case `true`, `false`, null }

  /// The last key's or string's characters, its escapes read, or the last number as it is written: as much of it as
  /// the configuration lets be kept. Half a surrogate pair stands there as three bytes, which are no UTF-8.
  public internal(set) var text: [UInt8] = []
  /// How many bytes ``text`` would have without a limit.
  public internal(set) var textLength = 0
  /// Whether the last key or string is Unicode: half a surrogate pair is none.
  public internal(set) var isUnicode = true
  /// Where the last token stands, in bytes from the beginning.
  public internal(set) var range = 0..<0

  let configuration: Configuration
  /// The bytes at hand.
  package internal(set) var piece: [UInt8] = []
  /// Where the next byte stands in `piece`, and where `piece` stands in the document.
  var position = 0
  var base = 0
  private var isAtEnd = false

  var expectation = Expectation.value
  var lexeme = Lexeme.none
  /// Whether each container that is open is an object.
  var containers: [Bool] = []
  var start = 0
  var characters = UTF8Validation()
  var highSurrogate: UInt32?
  var isKey = false

  /// Begins to read a document.
  public init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

  /// How many objects and arrays are open.
  public var depth: Int { containers.count }

  /// How many bytes are read.
  public var offset: Int { base + position }

  /// Whether the document was read to its end, and was whole.
  public var isComplete: Bool {
    isAtEnd && position == piece.count && isBetweenDocuments
  }

  /// Whether all that was begun is read.
  var isBetweenDocuments: Bool {
    let mayEnd = expectation == .nothing || configuration.isLenient && expectation == .value
    return mayEnd && lexeme == .none && containers.isEmpty
  }

  /// Takes the next bytes, after ``next()`` has answered `nil` to those before.
  public mutating func feed(_ bytes: [UInt8]) {
    piece = position == piece.count ? bytes : piece[position...] + bytes
    base += position
    position = 0
  }

  /// Says that no more bytes come.
  public mutating func finish() { isAtEnd = true }

  /// The next token; `nil` where more bytes are needed, or, once all were fed, at the end of a whole document.
  public mutating func next() throws(JSONFailure) -> Token? {
    while position < piece.count {
      if lexeme == .none {
        if let token = try begin(piece[position]) { return token }
      } else if let token = try goOn() {
        return token
      }
    }
    return isAtEnd ? try end() : nil
  }

  func failure(_ reason: JSONFailure.Reason) -> JSONFailure {
    JSONFailure(reason, offset: offset)
  }
}
