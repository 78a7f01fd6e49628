/// Says of bytes that come one by one whether they are UTF-8 (RFC 3629 §4).
struct UTF8Validation: Sendable {
  /// How many bytes of a character are still to come, and what the next of them may be.
  private var pending: UInt8 = 0
  private var next: ClosedRange<UInt8> = 0x80...0xBF

  /// Whether no character is begun.
  var isBetween: Bool { pending == 0 }

  /// Takes the next byte; answers whether it can stand there.
  mutating func take(_ byte: UInt8) -> Bool {
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
