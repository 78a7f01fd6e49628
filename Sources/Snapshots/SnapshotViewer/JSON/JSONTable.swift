package import JSONText

/// An array of objects as a table: an object in each row, a key in each column.
package struct JSONTable: Sendable {
  /// Limits of a table.
  package struct Limits: Sendable, Hashable {
    /// The maximum number of rows of a page.
    package var rows = 100
    /// The maximum number of columns.
    package var columns = 40
    /// The number of rows from which the columns are taken.
    package var sampledRows = 200
    /// The number of rows of a sorted table that pages show.
    package var sortedRows = 100_000
    /// The number of bytes by which texts are sorted.
    package var sortedText = 48

    /// Creates limits with the default values.
    package init() {}
  }

  /// The order of the rows.
  package struct Order: Sendable, Hashable {
    /// The key by whose values rows are sorted.
    package var key: String
    /// Whether the largest value comes first.
    package var isDescending: Bool

    /// Creates an order.
    package init(key: String, isDescending: Bool = false) {
      (self.key, self.isDescending) = (key, isDescending)
    }
  }

  /// A row.
  package struct Row: Sendable {
    /// The element of the array.
    package let child: JSONChild
    /// Its members, by column; `nil` where it has none.
    package let cells: [JSONChild?]
  }

  /// The path to the array.
  package let path: JSONPath
  /// The keys of the columns, in the order of their first occurrence.
  package let columns: [String]
  /// Whether there are more keys.
  package let hasMoreColumns: Bool
  /// The rows of the page.
  package let rows: [Row]
  /// The number of the first row, from 0.
  package let from: Int
  /// The number of all rows.
  package let count: Int
  /// Whether the rows are not sorted, because the page is behind the rows that are sorted.
  package let isTooLongToSort: Bool

  /// Reads a page of the table of the array at `place`; `nil` if it is not an array whose first element is an object.
  package init?(
    _ view: JSONView, _ place: JSONPlace, from: Int = 0, order: Order? = nil, limits: Limits = Limits()
  ) throws(ViewerError) {
    guard case .array(let preview) = try view.value(at: place).value else { return nil }
    var keys = Keys(limit: limits.columns)
    for child in try view.children(of: place, from: 0, limit: limits.sampledRows) {
      guard case .object = child.value else { continue }
      for member in try view.children(of: child.place, from: 0, limit: limits.columns + 1) {
        keys.add(member)
      }
    }
    guard !keys.columns.isEmpty else { return nil }
    isTooLongToSort = order != nil && from + limits.rows > limits.sortedRows
    var children: [JSONChild] = []
    if let order, !isTooLongToSort {
      let indices = try Self.sorted(view, place, by: order, count: from + limits.rows, limits)
      for index in indices.dropFirst(from) {
        children += try view.children(of: place, from: index, limit: 1)
      }
    } else {
      children = try view.children(of: place, from: from, limit: limits.rows)
    }
    var rows: [Row] = []
    for child in children {
      var cells = [JSONChild?](repeating: nil, count: keys.columns.count)
      if case .object = child.value {
        for member in try view.children(of: child.place, from: 0, limit: JSONView.Limits().keys) {
          guard let column = member.key.flatMap({ keys.places[$0] }), cells[column] == nil else { continue }
          cells[column] = member
        }
      }
      rows.append(Row(child: child, cells: cells))
    }
    (columns, hasMoreColumns, self.rows) = (keys.columns, keys.hasMore, rows)
    (path, self.from, count) = (place.path, from, preview.count)
  }

  /// The array that is shown as a table of the value at `place`: the value itself, or, if it is an object, the first
  /// array of objects in it. `nil` if there is none among the first members.
  package static func place(
    in view: JSONView, at place: JSONPlace, limits: Limits = Limits()
  ) throws(ViewerError) -> JSONPlace? {
    let value = try view.value(at: place).value
    if value.startsWithObject { return place }
    guard case .object = value else { return nil }
    return try view.children(of: place, from: 0, limit: limits.columns)
      .first { $0.value.startsWithObject && !$0.isKeyCut }?.place
  }

  private struct Keys {
    let limit: Int
    var columns: [String] = []
    var places: [String: Int] = [:]
    var hasMore = false

    init(limit: Int) { self.limit = limit }

    mutating func add(_ member: JSONChild) {
      guard let key = member.key, !member.isKeyCut, places[key] == nil else { return }
      guard columns.count < limit else {
        hasMore = true
        return
      }
      places[key] = columns.count
      columns.append(key)
    }
  }

  /// The indices of the first `count` rows in `order`. Rows without the key come last.
  private static func sorted(
    _ view: JSONView, _ place: JSONPlace, by order: Order, count: Int, _ limits: Limits
  ) throws(ViewerError) -> [Int] {
    var rows: [(key: SortKey, index: Int)] = []
    func sort() {
      rows.sort { first, second in
        if first.key == second.key { return first.index < second.index }
        if first.key == .missing || second.key == .missing { return second.key == .missing }
        return order.isDescending ? second.key < first.key : first.key < second.key
      }
      rows.removeLast(max(0, rows.count - count))
    }
    let textLength = max(limits.sortedText, order.key.utf8.count + 1)
    var cursor = JSONCursor(view, place, textLength: textLength)
    if !place.isSequence { _ = try cursor.token() }
    let outside = cursor.depth
    var index = 0
    while let token = try cursor.token(), cursor.depth >= outside {
      var key = SortKey.missing
      if token == .beginObject {
        key = try SortKey(of: order.key, &cursor, limit: limits.sortedText)
      } else if token == .beginArray {
        try cursor.leave()
      }
      rows.append((key, index))
      index += 1
      // The memory depends on the page, not on the number of rows.
      if rows.count >= 2 * count + limits.sampledRows { sort() }
    }
    sort()
    return rows.map(\.index)
  }

  /// Words before numbers, numbers before texts, texts before containers.
  private enum SortKey: Hashable, Comparable {
    case literal(String)
    case number(Double)
    case text([UInt8])
    case container(Int)
    case missing

    /// Reads an object to its end, after its first token. ``missing`` if it does not have the key.
    init(of key: String, _ cursor: inout JSONCursor, limit: Int) throws(ViewerError) {
      self = .missing
      while try cursor.token() == .key {
        let text = cursor.reader.tokenizer.text
        let isFound = text.count == key.utf8.count && text.elementsEqual(key.utf8)
        guard let token = try cursor.token() else { throw .changed }
        if isFound {
          self = try SortKey(token, &cursor, limit: limit)
          try cursor.leave()
          return
        }
        if token == .beginObject || token == .beginArray { try cursor.leave() }
      }
    }

    /// Reads the value that begins with `token` to its end.
    private init(_ token: JSONTokenizer.Token, _ cursor: inout JSONCursor, limit: Int) throws(ViewerError) {
      let text = cursor.reader.tokenizer.text
      switch token {
      case .boolean(let value): self = .literal(value ? "true" : "false")
      case .null: self = .literal("null")
      case .number: self = .number(Double(String(decoding: text, as: UTF8.self)) ?? 0)
      case .string: self = .text(Array(text.prefix(limit)))
      case .beginObject, .beginArray:
        guard let container = cursor.container else {
          self = .container(try Self.count(&cursor))
          return
        }
        self = .container(Int(container.count))
        try cursor.leave()
      case .key, .endObject, .endArray: throw .changed
      }
    }

    /// The number of children of the innermost container, which is read to its end.
    private static func count(_ cursor: inout JSONCursor) throws(ViewerError) -> Int {
      let inside = cursor.depth
      var count = 0
      while let token = try cursor.token(), cursor.depth >= inside {
        if token != .key { count += 1 }
        if token == .beginObject || token == .beginArray { try cursor.leave() }
      }
      return count
    }

    static func < (first: SortKey, second: SortKey) -> Bool {
      switch (first, second) {
      case (.literal(let first), .literal(let second)): first < second
      case (.number(let first), .number(let second)): first < second
      case (.text(let first), .text(let second)): first.lexicographicallyPrecedes(second)
      case (.container(let first), .container(let second)): first < second
      default: first.rank < second.rank
      }
    }

    private var rank: Int {
      switch self {
      case .literal: 0
      case .number: 1
      case .text: 2
      case .container: 3
      case .missing: 4
      }
    }
  }
}

extension JSONChild.Value {
  /// Whether the value is an array whose first element is an object.
  fileprivate var startsWithObject: Bool {
    guard case .array(let preview) = self, let first = preview.items.first else { return false }
    return first.kind == .container && first.text.hasPrefix("{")
  }
}
