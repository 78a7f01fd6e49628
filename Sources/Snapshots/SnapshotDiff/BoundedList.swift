/// Collects the first elements in an order, up to a limit, and counts all.
struct BoundedList<Element> {
  /// The number of elements appended.
  private(set) var count = 0

  private let limit: Int
  private let isBefore: (Element, Element) -> Bool
  private var kept: [Element] = []
  /// Elements that are not before this one are not among the first.
  private var bound: Element?

  init(limit: Int, by isBefore: @escaping (Element, Element) -> Bool) {
    self.limit = limit
    self.isBefore = isBefore
  }

  /// The first elements, in order.
  var rows: [Element] { Array(kept.sorted(by: isBefore).prefix(limit)) }

  /// Counts an element. Keeps it if it is among the first, unless `isListed` is `false`.
  mutating func append(_ element: Element, isListed: Bool = true) {
    count += 1
    guard isListed else { return }
    if let bound, !isBefore(element, bound) { return }
    kept.append(element)
    // Sort rarely, so that the cost for each element is small.
    guard limit < 1 << 20, kept.count >= 2 * max(limit, 32) else { return }
    kept = rows
    bound = kept.last
  }
}
