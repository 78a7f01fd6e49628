/// The characters of one text or number, with its escapes read: as much of it as is kept.
struct JSONTextBuffer: Sendable {
  /// The most bytes that are kept.
  private let limit: Int
  /// What is kept. Half a surrogate pair is three bytes, which are no UTF-8.
  private(set) var bytes: [UInt8] = []
  /// How many bytes there would be without a limit.
  private(set) var length = 0
  /// Whether the text is Unicode: half a surrogate pair is none.
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

  mutating func append(_ more: ArraySlice<UInt8>) {
    let room = limit - bytes.count
    bytes += more.count <= room ? more : more.prefix(room)
    length += more.count
  }

  /// What one of the four digits behind `\u` stands for.
  static func hexadecimal(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// Appends what the four digits behind `\u` stand for: two such units may make one character.
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

  /// Keeps the first half of a surrogate pair whose second half did not come.
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
