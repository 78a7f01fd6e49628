/// The first of many elements in an order, as many as a limit lets be told; all are counted.
struct BoundedList<Element> {
  /// How many there are.
  private(set) var count = 0

  private let limit: Int
  private let isBefore: (Element, Element) -> Bool
  private var kept: [Element] = []
  /// Behind which nothing is told any more.
  private var bound: Element?

  init(limit: Int, by isBefore: @escaping (Element, Element) -> Bool) {
    self.limit = limit
    self.isBefore = isBefore
  }

  /// The first of them, in their order.
  var rows: [Element] { Array(kept.sorted(by: isBefore).prefix(limit)) }

  mutating func append(_ element: Element) {
    count += 1
    if let bound, !isBefore(element, bound) { return }
    kept.append(element)
    // Sorted only now and then, which costs little for each.
    guard limit < 1 << 20, kept.count >= 2 * max(limit, 32) else { return }
    kept = rows
    bound = kept.last
  }
}
