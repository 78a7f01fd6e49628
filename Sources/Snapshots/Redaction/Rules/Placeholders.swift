import Foundation

#if canImport(CryptoKit)
  import CryptoKit
#else
  import Crypto
#endif

/// What replaces secrets.
package struct Placeholders: Sendable {
  /// The key of the digests; `nil` if all secrets are replaced alike.
  private let key: SymmetricKey?

  /// All texts become ``RedactionRule/mark``, and all numbers 0. This is for texts that must be the same at every launch.
  package static let uniform = Placeholders(key: nil)

  /// Equal secrets become equal placeholders, and the length remains roughly the same, so that values still match each
  /// other: `[redacted-0F1E2D3C]`. The key is random and never stored, so that nobody can try which secret it was.
  package static func distinct() -> Placeholders { Placeholders(key: SymmetricKey(size: .bits256)) }

  private static let word = Array("redacted".utf8)
  private static let digits = 8
  /// The lengths of placeholders: the first one that is not shorter than the secret.
  private static let lengths = [19, 64, 256, 1024]
  /// Shorter numbers, such as PINs, could be guessed by their length.
  private static let shortestNumber = 6
  /// The most digits that 64 bits hold.
  private static let longestNumber = 19

  /// Returns what replaces a text, which is UTF-8. It is the same if the text is percent-encoded.
  func text(_ secret: some Collection<UInt8>) -> [UInt8] {
    guard let key else { return RedactionRule.markBytes }
    let written = Array(secret)
    var secret: [UInt8] = []
    Escaping.percent.decode(written, written.indices, into: &secret)
    let digest = HMAC<SHA256>.authenticationCode(for: secret, using: key)
    let length = Self.lengths.first { secret.count <= $0 } ?? Self.lengths.last ?? 0
    var mark = [UInt8(ascii: "[")] + Self.word + [UInt8(ascii: "-")]
    for byte in digest.prefix(Self.digits / 2) { mark += Hexadecimal.digits(byte) }
    mark += Array(repeating: UInt8(ascii: "."), count: max(length - mark.count - 1, 0))
    return mark + [UInt8(ascii: "]")]
  }

  /// Returns what replaces a number in JSON. An integer of six to nineteen digits keeps its length, and fits the same
  /// types as before.
  func number(_ secret: some Collection<UInt8>) -> [UInt8] {
    guard let key, Self.shortestNumber...Self.longestNumber ~= secret.count,
      secret.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
    else { return [UInt8(ascii: "0")] }
    let digest = HMAC<SHA256>.authenticationCode(for: Array(secret), using: key)
    return Array("10".utf8) + digest.prefix(secret.count - 2).map { UInt8(ascii: "0") + $0 % 10 }
  }

  /// Returns the end of the placeholder for a text that begins at `start`; `nil` if there is none. Its brackets can be
  /// percent-encoded.
  static func end(in text: [UInt8], from start: Int) -> Int? {
    guard let name = end(of: "[", in: text, start), text[name...].starts(with: word) else { return nil }
    var index = name + word.count
    if index < text.count, text[index] == UInt8(ascii: "-") {
      index += 1 + digits
      guard index < text.count, text[(index - digits)..<index].allSatisfy({ Hexadecimal.value($0) != nil })
      else { return nil }
      while index < text.count, text[index] == UInt8(ascii: ".") { index += 1 }
    }
    return end(of: "]", in: text, index)
  }

  /// Returns the end of `bracket` at `start`, if it is there, as it is or percent-encoded.
  private static func end(of bracket: Unicode.Scalar, in text: [UInt8], _ start: Int) -> Int? {
    guard start < text.count else { return nil }
    let byte = UInt8(ascii: bracket)
    if text[start] == byte { return start + 1 }
    return Hexadecimal.byte(afterPercent: text, start, text.count) == byte && text[start] == UInt8(ascii: "%")
      ? start + 3 : nil
  }

  /// Whether the whole text is a placeholder that need not be replaced.
  func keeps(_ text: [UInt8]) -> Bool {
    key == nil ? text == RedactionRule.markBytes : Self.end(in: text, from: 0) == text.count
  }

  /// Replaces all placeholders in `text` by ``RedactionRule/mark``.
  package static func unified(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var index = 0
    while index < text.count {
      if let end = end(in: text, from: index) {
        result += RedactionRule.markBytes
        index = end
      } else {
        result.append(text[index])
        index += 1
      }
    }
    return result
  }
}
