import JSONText
import SnapshotDiff
import SnapshotViewer

/// How the values on a page of a JSON document differ from those at the same places of another document.
///
/// Only what the page shows is looked up in the other document, so that the size of both makes hardly a difference.
/// Elements of arrays are aligned by their identifiers or values within the shown part.
struct ValueMarks: Sendable {
  /// Limits for one page.
  struct Limits: Sendable, Hashable {
    /// The maximum number of values in a container that only the other document has and that are shown.
    var missing = 20
    /// The number of elements around those of the page among which moved ones are found.
    var margin = 30
    /// The maximum number of bytes of a value that is not open and is compared, and of all these together.
    var valueBytes = 256 << 10
    var totalBytes = 4 << 20
  }

  /// The difference of a value.
  enum Mark: Sendable {
    /// The other document has another value.
    case changed(JSONChild)
    /// The other document has none.
    case added
    /// A container that is not open has this number of changes inside; `nil` if it was not counted.
    case inside(Int?)
  }

  /// Values that only the other document has.
  struct Missing: Sendable {
    /// The first of them.
    var children: [JSONChild]
    /// The number of all of them.
    var count: Int
  }

  /// The differences, by the place of the value.
  private(set) var marks: [JSONPlace: Mark] = [:]
  /// The values that only the other document has, by the place of their container.
  private(set) var missing: [JSONPlace: Missing] = [:]

  /// The number of differences on the page. A container with changes inside counts as one.
  var count: Int { marks.count + missing.values.reduce(0) { $0 + $1.count } }

  private let view: JSONView
  private let other: JSONView
  private let filter: ComparisonFilter
  private let limits: Limits
  private var bytesLeft: Int

  /// Compares the values of `outline`, a part of the document `view`, with those of the document `other`. Values that
  /// `filter` omits have no marks. Blocks for the disk.
  init(
    _ outline: JSONOutline, of view: JSONView, in other: JSONView, filter: ComparisonFilter,
    limits: Limits = Limits()
  ) throws(ViewerError) {
    (self.view, self.other, self.filter, self.limits) = (view, other, filter, limits)
    bytesLeft = limits.totalBytes
    let place = outline.root.child.place
    if let counterpart = try other.place(at: place.path.tokens) {
      try compare(outline.root, try other.value(at: counterpart))
    } else if !filter.omits(place.path) {
      marks[place] = .added
    }
  }

  /// Compares a value with another one, and what is open in it.
  private mutating func compare(_ node: JSONOutline.Node, _ counterpart: JSONChild) throws(ViewerError) {
    let child = node.child
    guard !filter.omits(child.place.path) else { return }
    switch (child.value, counterpart.value) {
    case (.object, .object), (.array, .array):
      if let contents = node.contents {
        try compare(contents, of: child, counterpart)
      } else {
        try compareClosed(child, counterpart)
      }
    case (.string(let text, let isCut), .string(let otherText, let isOtherCut)):
      let isUnknown = isCut && isOtherCut && text == otherText
      if isUnknown ? try countChanges(child, counterpart) ?? 0 > 0 : text != otherText || isCut != isOtherCut
      {
        marks[child.place] = .changed(counterpart)
      }
    case (.number(let text, _), .number(let otherText, _)):
      // Numbers such as 1 and 1.0 are equal.
      if text != otherText, try countChanges(child, counterpart) ?? 1 > 0 {
        marks[child.place] = .changed(counterpart)
      }
    case (.literal(let text), .literal(let otherText)):
      if text != otherText { marks[child.place] = .changed(counterpart) }
    default: marks[child.place] = .changed(counterpart)
    }
  }

  /// Compares containers of which only a preview is shown.
  private mutating func compareClosed(_ child: JSONChild, _ counterpart: JSONChild) throws(ViewerError) {
    guard let preview = child.value.preview, let otherPreview = counterpart.value.preview else { return }
    let isKnown = preview.isComplete && otherPreview.isComplete
    if isKnown, preview == otherPreview { return }
    let count = try countChanges(child, counterpart)
    guard let count else {
      if preview != otherPreview { marks[child.place] = .inside(nil) }
      return
    }
    guard count > 0 else { return }
    let isShown = preview.isShort && otherPreview.isShort
    marks[child.place] = isShown ? .changed(counterpart) : .inside(count)
  }

  /// Returns the number of changes between two values; `nil` if they are too large.
  private mutating func countChanges(
    _ child: JSONChild, _ counterpart: JSONChild
  ) throws(ViewerError) -> Int? {
    let limit = min(limits.valueBytes, bytesLeft)
    guard let source = try view.source(of: child.place, limit: limit),
      let otherSource = try other.source(of: counterpart.place, limit: limit)
    else { return nil }
    bytesLeft = max(0, bytesLeft - source.count - otherSource.count)
    if source == otherSource { return 0 }
    let most = 1000
    guard
      case .json(let changes) = RecordingDifference.Detail(
        source, otherSource, limits: .default, limit: most, filter: filter)
    else { return 0 }
    // The filter's paths begin at the document.
    let path = child.place.path
    let omitted = changes.rows.count { filter.omits(JSONPath(path.steps + $0.place.steps)) }
    return changes.count - omitted
  }

  // MARK: - Containers

  private mutating func compare(
    _ contents: JSONOutline.Contents, of child: JSONChild, _ counterpart: JSONChild
  ) throws(ViewerError) {
    if case .object = child.value {
      try compareMembers(contents, of: child, counterpart)
    } else {
      try compareElements(contents, of: child, counterpart)
    }
  }

  private mutating func compareMembers(
    _ contents: JSONOutline.Contents, of child: JSONChild, _ counterpart: JSONChild
  ) throws(ViewerError) {
    let nodes = contents.nodes.filter { !$0.child.isKeyCut && $0.child.key != nil }
    let keys = Set(nodes.map { Array(($0.child.key ?? "").utf8) })
    // Of an object that is not shown completely, other members can be on another page.
    let isWhole = contents.from == 0 && contents.rest == 0 && nodes.count == contents.nodes.count
    let members = try other.members(of: counterpart.place, named: keys, others: isWhole ? limits.missing : 0)
    var seen: Set<[UInt8]> = []
    for node in nodes {
      let key = Array((node.child.key ?? "").utf8)
      guard seen.insert(key).inserted else { continue }
      if let member = members.named[key] {
        try compare(node, member)
      } else {
        add(node.child)
      }
    }
    if isWhole { add(members.others, of: members.otherCount, in: child) }
  }

  private mutating func compareElements(
    _ contents: JSONOutline.Contents, of child: JSONChild, _ counterpart: JSONChild
  ) throws(ViewerError) {
    let count = counterpart.value.childCount ?? 0
    let start = max(0, contents.from - limits.margin)
    let elements = try other.children(
      of: counterpart.place, from: start, limit: contents.nodes.count + 2 * limits.margin)
    let names = contents.nodes.map { ElementName($0.child) }
    let otherNames = elements.map { ElementName($0) }
    // Elements before the page belong to an earlier one.
    let first = otherNames.indices.first { elements[$0].place.index >= contents.from } ?? otherNames.count
    let isWhole = contents.from == 0 && contents.rest == 0 && elements.count == count
    let alignment = SequenceAlignment(names.map(\.hash), otherNames.map(\.hash))
    var missing: [JSONChild] = []
    var (x, y) = (0, alignment.pairs.first.map { min($0.second, first) } ?? first)
    for pair in alignment.pairs + [(names.count, elements.count)] {
      while x < pair.first || y < pair.second {
        if x < pair.first, y < pair.second, !names[x].isIdentity, !otherNames[y].isIdentity {
          try compare(contents.nodes[x], elements[y])
          (x, y) = (x + 1, y + 1)
        } else if x < pair.first {
          // Otherwise, the other document possibly has the element elsewhere.
          if isWhole || !names[x].isIdentity { add(contents.nodes[x].child) }
          x += 1
        } else {
          missing.append(elements[y])
          y += 1
        }
      }
      if pair.first < names.count { try compare(contents.nodes[pair.first], elements[pair.second]) }
      (x, y) = (pair.first + 1, pair.second + 1)
    }
    if isWhole { add(Array(missing.prefix(limits.missing)), of: missing.count, in: child) }
  }

  private mutating func add(_ child: JSONChild) {
    if !filter.omits(child.place.path) { marks[child.place] = .added }
  }

  private mutating func add(_ children: [JSONChild], of count: Int, in container: JSONChild) {
    let shown = children.filter { !filter.omits($0.place.path) }
    let all = count - (children.count - shown.count)
    if all > 0 { missing[container.place] = Missing(children: shown, count: all) }
  }
}

/// The value by which an element of an array is recognized: the identifier of an object that has one, otherwise what is
/// shown of the whole element.
private struct ElementName {
  let hash: Int
  let isIdentity: Bool

  private static let keys: Set<String> = ["id", "_id", "uuid", "identifier"]

  init(_ child: JSONChild) {
    if case .object(let preview) = child.value,
      let item = preview.items.first(where: { item in
        item.key.map(Self.keys.contains) == true && (item.kind == .string || item.kind == .number)
      })
    {
      (hash, isIdentity) = (item.hashValue, true)
    } else {
      (hash, isIdentity) = (child.value.hashValue, false)
    }
  }
}

extension JSONPath {
  /// The tokens of ``pointer``, decoded.
  var tokens: [String] {
    steps.map { step in
      switch step {
      case .key(let key): key
      case .index(let index): "\(index)"
      }
    }
  }
}
