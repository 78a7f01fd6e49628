/// The deadlines of all descriptors in milliseconds, in an array. Setting a deadline is one store, and finding expired
/// ones is a scan of a few cache lines.
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

  /// Returns the descriptors whose deadlines have passed.
  func expired(at now: UInt64) -> [Int32] {
    var expired: [Int32] = []
    for index in deadlines.indices where deadlines[index] <= now { expired.append(Int32(index)) }
    return expired
  }
}
