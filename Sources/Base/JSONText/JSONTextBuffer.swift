/// The decoded characters of one string or number, up to a maximum length.
struct JSONTextBuffer: Sendable {
  /// The maximum number of bytes that are kept.
  private let limit: Int
  /// The kept bytes. An unpaired surrogate is kept as three bytes, which are not valid UTF-8.
  private(set) var bytes: [UInt8] = []
  /// The number of bytes without the limit.
  private(set) var length = 0
  /// Whether the text is valid Unicode, that is, without unpaired surrogates.
  private(set) var isUnicode = true
  private var highSurrogate: UInt32?

  init(limit: Int) { self.limit = limit }

  mutating func removeAll() {
    if !bytes.isEmpty { bytes.removeAll(keepingCapacity: true) }
    length = 0
    isUnicode = true
  }

  mutating func append(_ byte: UInt8) {
    if bytes.count < limit { bytes.append(byte) }
    length += 1
  }

  /// Appends the bytes of `more` at `range`.
  mutating func append(_ more: [UInt8], _ range: Range<Int>) {
    length += range.count
    let kept = min(range.count, limit - bytes.count)
    if kept > 0 { bytes += more[range.lowerBound..<range.lowerBound + kept] }
  }

  mutating func append(_ more: [UInt8]) { append(more, more.indices) }

  /// Appends the UTF-16 code unit of a `\u` escape. Two surrogates in a row form one character.
  mutating func append(unit: UInt32) {
    if let high = highSurrogate, (0xDC00..<0xE000).contains(unit) {
      highSurrogate = nil
      append(character: 0x10000 + (high - 0xD800) << 10 + (unit - 0xDC00))
      return
    }
    endPair()
    if (0xD800..<0xDC00).contains(unit) {
      highSurrogate = unit
    } else {
      if (0xDC00..<0xE000).contains(unit) { isUnicode = false }
      append(character: unit)
    }
  }

  /// Appends a high surrogate that is not followed by a low one.
  mutating func endPair() {
    guard let half = highSurrogate else { return }
    highSurrogate = nil
    isUnicode = false
    append(character: half)
  }

  private mutating func append(character value: UInt32) {
    func tail(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(value >> shift & 0x3F) }
    switch value {
    case 0..<0x80: append(UInt8(value))
    case 0x80..<0x800: append([0xC0 | UInt8(value >> 6), tail(0)])
    case 0x800..<0x10000: append([0xE0 | UInt8(value >> 12), tail(6), tail(0)])
    default: append([0xF0 | UInt8(value >> 18 & 7), tail(12), tail(6), tail(0)])
    }
  }
}

/// Validates UTF-8 byte by byte (RFC 3629 §4).
package struct UTF8Validation: Sendable {
  /// The number of missing bytes of the current character, and the range of the next one.
  private var pending: UInt8 = 0
  private var next: ClosedRange<UInt8> = 0x80...0xBF

  /// Creates the state before the first byte.
  package init() {}

  /// Whether the last character is complete.
  package var isBetween: Bool { pending == 0 }

  /// Processes the next byte and returns whether it is valid at its position.
  package mutating func take(_ byte: UInt8) -> Bool {
    guard pending == 0 else {
      guard next.contains(byte) else { return false }
      pending -= 1
      next = 0x80...0xBF
      return true
    }
    switch byte {
    case 0..<0x80: break
    case 0xC2...0xDF: pending = 1
    case 0xE0: (pending, next) = (2, 0xA0...0xBF)
    case 0xED: (pending, next) = (2, 0x80...0x9F)
    case 0xE1...0xEF: pending = 2
    case 0xF0: (pending, next) = (3, 0x90...0xBF)
    case 0xF4: (pending, next) = (3, 0x80...0x8F)
    case 0xF1...0xF3: pending = 3
    default: return false
    }
    return true
  }
}
