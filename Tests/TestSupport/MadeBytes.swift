public import Foundation

/// Makes `count` bytes without a simple period.
public func makeBytes(_ count: Int) -> Data {
  var state: UInt64 = 0x9E37_79B9_7F4A_7C15
  let words = (0..<(count + 7) / 8).map { _ in
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ state >> 33
  }
  return words.withUnsafeBytes { Data($0.prefix(count)) }
}
