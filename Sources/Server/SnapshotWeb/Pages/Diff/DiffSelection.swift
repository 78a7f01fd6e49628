import HTTPEngine
import SnapshotAPI
import SnapshotDiff

/// The part of a comparison that a page shows, as its query selects it.
struct DiffSelection: Sendable, Hashable {
  /// One of the compared contents.
  enum Item: Sendable, Hashable {
    /// A recording.
    case recording(ComparisonSelection.Place)
    /// An attachment or a file of the app's container.
    case file(String)
  }

  /// The kind of recordings that are listed; `nil` for all.
  var kind: ChangeKind?
  /// The recording before the first listed one; `nil` for the beginning.
  var after: ComparisonSelection.Place?
  /// The file before the first listed one; `nil` for the beginning.
  var filesAfter: String?
  /// The rules for values that are not compared, separated by commas; `nil` for those of the server.
  var ignored: String?
  /// The only item that is compared, with all changes; `nil` for a list of all items.
  var item: Item?
  /// The number of changes before the first shown one.
  var from = 0

  /// Returns the selection of an item, with the same rules.
  func showing(_ item: Item?) -> DiffSelection {
    var selection = DiffSelection()
    (selection.ignored, selection.item) = (ignored, item)
    return selection
  }
}

extension DiffSelection {
  /// The fields of a query.
  static let fields: [PageField] = [.kind, .after, .filesAfter, .ignore, .recording, .call, .file, .from]

  /// Reads a selection from the query of a page's URL.
  init(_ query: QueryParameters) throws(HTTPProblem) {
    func value(_ field: PageField) throws(HTTPProblem) -> String? { try query.value(field.rawValue) }
    func number(_ field: PageField) throws(HTTPProblem) -> Int {
      guard let text = try value(field) else { return 0 }
      guard let number = Int(text), number >= 0 else {
        throw .badRequest("‘\(field.rawValue)’ must be a number.")
      }
      return number
    }
    if let name = try value(.kind) {
      guard let kind = ChangeKind(rawValue: name) else {
        throw .badRequest("‘\(PageField.kind.rawValue)’ must be ‘added’, ‘removed’ or ‘changed’.")
      }
      self.kind = kind
    }
    let call = try number(.call)
    after = try value(.after).map { .init(identifier: $0, call: call) }
    filesAfter = try value(.filesAfter)
    ignored = try value(.ignore)
    if let identifier = try value(.recording) {
      item = .recording(.init(identifier: identifier, call: call))
    } else if let name = try value(.file) {
      item = .file(name)
    }
    from = try number(.from)
  }

  /// The fields of a query that selects the same.
  var pairs: [(PageField, String)] {
    var pairs: [(PageField, String)] = []
    func add(_ field: PageField, _ value: String?) {
      if let value { pairs.append((field, value)) }
    }
    func add(_ field: PageField, _ place: ComparisonSelection.Place?) {
      add(field, place?.identifier)
      if let place, place.call > 0 { add(.call, "\(place.call)") }
    }
    add(.kind, kind?.rawValue)
    switch item {
    case .recording(let place): add(.recording, place)
    case .file(let name): add(.file, name)
    case nil: add(.after, after)
    }
    add(.filesAfter, filesAfter)
    add(.from, from > 0 ? "\(from)" : nil)
    add(.ignore, ignored)
    return pairs
  }
}
