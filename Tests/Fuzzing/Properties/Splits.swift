/// The ways to split an input: not at all, into single bytes, and into pieces whose lengths are derived from the input,
/// so that a failure is reproducible.
enum Splits: CaseIterable {
  case whole, bytes, pieces

  /// The end of each piece of `input`; the last is the end of `input`.
  func ends(in input: [UInt8]) -> [Int] {
    switch self {
    case .whole: return [input.count]
    case .bytes: return input.isEmpty ? [0] : Array(1...input.count)
    case .pieces:
      var numbers = Numbers(from: input)
      var ends: [Int] = []
      var end = 0
      while end < input.count {
        end = min(input.count, end + 1 + numbers.next(below: 24))
        ends.append(end)
      }
      return ends.isEmpty ? [0] : ends
    }
  }

  /// The pieces of `input`.
  func pieces(of input: [UInt8]) -> [ArraySlice<UInt8>] {
    var start = 0
    return ends(in: input).map { end in
      defer { start = end }
      return input[start..<end]
    }
  }
}

/// Pseudorandom numbers derived from an input (FNV-1a, then xorshift).
struct Numbers {
  private var state: UInt64

  init(from input: [UInt8]) {
    state = input.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 } | 1
  }

  mutating func next(below bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(bound))
  }
}
