/// One deadline per descriptor, in milliseconds, side by side in memory: setting one is a store, and looking for the
/// ones that are over is a walk over a few cache lines.
struct DeadlineTable {
  private var deadlines: [UInt64] = []
  static let none = UInt64.max

  subscript(descriptor: Int32) -> UInt64 {
    get { Int(descriptor) < deadlines.count ? deadlines[Int(descriptor)] : Self.none }
    set {
      let index = Int(descriptor)
      if index >= deadlines.count {
        deadlines.append(contentsOf: repeatElement(Self.none, count: index + 64 - deadlines.count))
      }
      deadlines[index] = newValue
    }
  }

  /// The descriptors whose deadlines are over.
  func expired(at now: UInt64) -> [Int32] {
    var expired: [Int32] = []
    for index in deadlines.indices where deadlines[index] <= now { expired.append(Int32(index)) }
    return expired
  }
}
