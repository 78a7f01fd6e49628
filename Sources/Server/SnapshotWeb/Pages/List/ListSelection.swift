import HTTPEngine
import SnapshotAPI

/// Which part of a snapshot's list a page shows, and in which order.
struct ListSelection: Sendable, Hashable {
  /// The order of the recordings.
  enum Order: String, Sendable, Hashable, CaseIterable {
    /// By module, in the manifest's order.
    case module
    /// Those with problems first.
    case problems
    /// By the time of recording.
    case time
    /// The largest first.
    case size
  }

  /// The fields of a query.
  static let fields: [PageField] = [.list, .module, .recordings, .files]

  /// The order.
  var order = Order.module
  /// The module to whose recordings the list is limited.
  var module: String?
  /// The number of recordings before the first one shown; `nil` for the part with the selected one.
  var recordings: Int?
  /// The number of files before the first one shown.
  var files = 0

  /// The names and values in the query.
  var pairs: [(PageField, String)] {
    var pairs: [(PageField, String)] = []
    if order != .module { pairs.append((.list, order.rawValue)) }
    if let module { pairs.append((.module, module)) }
    if let recordings { pairs.append((.recordings, "\(recordings)")) }
    if files > 0 { pairs.append((.files, "\(files)")) }
    return pairs
  }

  /// Returns the same list in another order, from its beginning.
  func ordered(by order: Order) -> ListSelection {
    var selection = self
    selection.order = order
    selection.recordings = nil
    return selection
  }
}

extension ListSelection {
  /// Reads a selection from the query of a page's URL.
  init(_ query: QueryParameters) throws(HTTPProblem) {
    if let name = try query.value(PageField.list.rawValue) {
      guard let order = Order(rawValue: name) else { throw .badRequest("There is no order ‘\(name)’.") }
      self.order = order
    }
    module = try query.value(PageField.module.rawValue)
    recordings = try Self.start(query, .recordings)
    files = try Self.start(query, .files) ?? 0
  }

  private static func start(_ query: QueryParameters, _ field: PageField) throws(HTTPProblem) -> Int? {
    guard let text = try query.value(field.rawValue) else { return nil }
    guard let number = Int(text), (0...FileSelection.largestStart).contains(number) else {
      throw .badRequest("‘\(field.rawValue)’ must be a number from 0 to \(FileSelection.largestStart).")
    }
    return number
  }
}
