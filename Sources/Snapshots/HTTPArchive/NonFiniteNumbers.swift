import JSONText

/// Replaces `NaN` and `Infinity`, which some programs write as numbers although JSON has none, by `null`, in JSON that
/// arrives in pieces.
struct NonFiniteNumbers {
  private enum Place { case outside, text, escape }

  private static let words = ["NaN", "-NaN", "Infinity", "-Infinity"].map { Array($0.utf8) }

  private var place = Place.outside
  /// The beginning of what may be such a number, at the end of a piece.
  private var rest: [UInt8] = []

  /// The bytes of the next piece that are decided; `nil` stands for the end of the document.
  mutating func replace(in piece: [UInt8]?) -> [UInt8] {
    let bytes = rest + (piece ?? [])
    rest = []
    var result: [UInt8] = []
    var (copied, index) = (0, 0)
    while index < bytes.count {
      switch place {
      case .escape:
        place = .text
        index += 1
      case .text:
        index = JSONRun.plainEnd(bytes, from: index)
        guard index < bytes.count else { break }
        if bytes[index] == UInt8(ascii: "\"") { place = .outside }
        if bytes[index] == UInt8(ascii: "\\") { place = .escape }
        index += 1
      case .outside:
        let byte = bytes[index]
        if byte == UInt8(ascii: "\"") { place = .text }
        guard byte == UInt8(ascii: "N") || byte == UInt8(ascii: "I") || byte == UInt8(ascii: "-") else {
          index += 1
          continue
        }
        if let word = Self.words.first(where: { bytes[index...].starts(with: $0) }) {
          result += bytes[copied..<index] + Array("null".utf8)
          index += word.count
          copied = index
        } else if piece != nil, Self.words.contains(where: { $0.starts(with: bytes[index...]) }) {
          rest = Array(bytes[index...])
          return result + bytes[copied..<index]
        } else {
          index += 1
        }
      }
    }
    return result.isEmpty && copied == 0 ? bytes : result + bytes[copied...]
  }
}
