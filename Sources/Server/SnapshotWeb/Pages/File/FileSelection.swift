import AccessControl
import HTTPEngine
import JSONText
import SnapshotAPI
import SnapshotFormat
import SnapshotViewer

/// The part of a file that a page shows, as its query selects it.
struct FileSelection: Sendable, Hashable {
  /// How the file is shown.
  enum View: String, Sendable, Hashable, CaseIterable {
    /// JSON as a tree.
    case tree
    /// An array of objects as a table.
    case table
    /// JSON with one value in each line.
    case formatted
    /// An image.
    case image
    /// Lines of text.
    case text
    /// Bytes.
    case hex
  }

  /// The view; `nil` for the one that fits the file best.
  var view: View?
  /// The JSON Pointer to the value that the page shows.
  var pointer = ""
  /// The number of children, rows, lines, bytes or matches before the first one on the page.
  var from = 0
  /// The order of a table's rows.
  var order: JSONTable.Order?
  /// The text to find.
  var find = ""
  /// The number of the match that the page shows, from 1; `nil` for the list of matches.
  var hit: Int?
  /// The JSON Pointer to the string whose decoded contents are shown instead of the file; `nil` for the file.
  var decode: String?
  /// Whether strings are shown as written, with their escape sequences.
  var showsEscapes = false
  /// Whether only the values are requested, to be inserted in a page that is open.
  var isPart = false
  /// The list beside the file.
  var list = ListSelection()
  /// The snapshot with whose file the values are compared; `nil` for none.
  var with: SnapshotID?

  /// Returns a selection of the whole file that is compared in the same way.
  var wholeFile: FileSelection { FileSelection(list: list, with: with) }

  /// Returns the selection with another beginning of the page.
  func starting(at from: Int) -> FileSelection {
    var selection = self
    selection.from = from
    selection.hit = nil
    return selection
  }

  /// Returns a selection of the match with this number, from 1.
  func showing(hit: Int) -> FileSelection {
    var selection = starting(at: 0)
    selection.hit = hit
    return selection
  }

  /// Returns a selection of the decoded contents of the string at `pointer`.
  func decoding(_ pointer: String) -> FileSelection {
    var selection = wholeFile
    selection.decode = pointer
    return selection
  }

  /// Returns a selection of the value at `pointer` in the tree.
  func showing(_ pointer: String, from: Int = 0) -> FileSelection {
    var selection = wholeFile
    selection.decode = decode
    selection.pointer = pointer
    selection.from = from
    selection.showsEscapes = showsEscapes
    return selection
  }

  /// Returns a selection of the container with the value at `path`, so that its siblings are shown too.
  func showing(siblingsOf path: JSONPath) -> FileSelection {
    let container = JSONPath(Array(path.steps.dropLast()))
    guard case .index(let index) = path.steps.last else { return showing(container.pointer) }
    let before = 3
    return showing(container.pointer, from: max(0, index - before))
  }

  /// Returns the same place in another view.
  func viewed(as view: View) -> FileSelection {
    var selection = wholeFile
    selection.decode = decode
    selection.view = view
    selection.pointer = view == .tree || view == .table ? pointer : ""
    return selection
  }
}

extension FileSelection {
  /// The maximum of ``from``: more than any file has values, lines or bytes that are shown.
  static let largestStart = 1 << 40

  /// The fields of a query.
  static let fields: [PageField] =
    [
      .view, .at, .from, .sort, .order, .find, .hit, .decode, .escapes, .part, .with,
    ] + ListSelection.fields

  /// Reads a selection from the query of a page's URL.
  init(_ query: QueryParameters) throws(HTTPProblem) {
    func value(_ field: PageField) throws(HTTPProblem) -> String? { try query.value(field.rawValue) }
    func isSet(_ field: PageField, _ value: String) throws(HTTPProblem) -> Bool {
      guard let text = try query.value(field.rawValue) else { return false }
      guard text == value else { throw .badRequest("‘\(field.rawValue)’ must be ‘\(value)’.") }
      return true
    }
    if let name = try value(.view) {
      guard let view = View(rawValue: name) else { throw .badRequest("There is no view ‘\(name)’.") }
      self.view = view
    }
    if let text = try value(.from) {
      guard let number = Int(text), (0...Self.largestStart).contains(number) else {
        throw .badRequest("‘\(PageField.from.rawValue)’ must be a number from 0 to \(Self.largestStart).")
      }
      from = number
    }
    pointer = try value(.at) ?? ""
    find = try value(.find) ?? ""
    decode = try value(.decode)
    if let text = try value(.hit) {
      guard let number = Int(text), (1...Self.largestStart).contains(number) else {
        throw .badRequest("‘\(PageField.hit.rawValue)’ must be a number from 1 to \(Self.largestStart).")
      }
      hit = number
    }
    let isDescending = try isSet(.order, "descending")
    order = try value(.sort).map { JSONTable.Order(key: $0, isDescending: isDescending) }
    showsEscapes = try isSet(.escapes, "1")
    isPart = try isSet(.part, "1")
    list = try ListSelection(query)
    with = try value(.with).map { (text) throws(HTTPProblem) in
      guard let id = SnapshotID(text) else { throw HTTPProblem.malformedID(text) }
      return id
    }
  }
}
