import SystemIO

/// The unsent parts of the output, in order.
struct OutputQueue {
  enum Item {
    case bytes([UInt8], sent: Int)
    case file(File, offset: Int64, remaining: Int64)
  }

  private var items: [Item] = []
  private var next = 0

  var isEmpty: Bool { next == items.count }
  var first: Item? { isEmpty ? nil : items[next] }
  /// Whether there are items after the first one.
  var hasMore: Bool { items.count - next > 1 }

  mutating func append(_ bytes: [UInt8]) {
    if !bytes.isEmpty { items.append(.bytes(bytes, sent: 0)) }
  }

  /// Inserts `bytes` before all other items.
  mutating func prepend(_ bytes: [UInt8]) { items.insert(.bytes(bytes, sent: 0), at: next) }

  mutating func append(_ part: HTTPServerResponse.Part) {
    switch part {
    case .bytes(let bytes): append(bytes)
    case .file(let file, let offset, let count):
      if count > 0 { items.append(.file(file, offset: offset, remaining: count)) }
    }
  }

  /// Removes `count` sent bytes from the first item.
  mutating func advance(_ count: Int) {
    switch first {
    case .bytes(let bytes, let sent) where sent + count < bytes.count:
      items[next] = .bytes(bytes, sent: sent + count)
    case .file(let file, let offset, let remaining) where Int64(count) < remaining:
      items[next] = .file(file, offset: offset + Int64(count), remaining: remaining - Int64(count))
    case nil: break
    default:
      next += 1
      if next == items.count { (items, next) = ([], 0) }
    }
  }

  mutating func removeAll() { (items, next) = ([], 0) }
}
