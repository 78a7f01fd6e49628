import Foundation

/// Reproducible text that compresses about as well as the responses of an API.
struct JSONText {
  private var state: UInt64
  private static let words = [
    "title", "summary", "author", "published", "balance", "negative", "account", "transfer", "pending",
    "amount", "currency", "reference", "comment", "delivered", "image", "thumbnail", "language", "section",
  ]

  init(seed: UInt64) { state = seed &+ 0x9E37_79B9_7F4A_7C15 }

  /// Returns `count` bytes of text.
  func make(_ count: Int) -> [UInt8] {
    var generator = self
    var text: [UInt8] = []
    text.reserveCapacity(count + 256)
    while text.count < count {
      let number = generator.next()
      text +=
        "{\"id\":\"\(String(generator.next(), radix: 16))\",\"\(Self.word(number))\":\(number >> 40),\"text\":\""
        .utf8
      for shift in stride(from: UInt64(5), to: 50, by: 5) {
        text += Self.word(number >> shift).utf8
        text.append(0x20)
      }
      text += "\"},\n".utf8
    }
    return Array(text[..<count])
  }

  /// Returns `count` incompressible bytes.
  func makeNoise(_ count: Int) -> Data {
    var generator = self
    var words = [UInt64](repeating: 0, count: (count + 7) / 8)
    for index in words.indices { words[index] = generator.next() }
    return words.withUnsafeBytes { Data($0.prefix(count)) }
  }

  private static func word(_ number: UInt64) -> String { words[Int(number % UInt64(words.count))] }

  /// SplitMix64.
  private mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
