/// Where the large objects and arrays of a JSON document are, so that any place in it is found without reading the
/// document from its beginning. Its size has a limit for any document.
///
/// Lines are those of the document when it is formatted with one value in each line. They begin with 0.
package struct JSONIndex: Sendable {
  /// Limits for documents and their indexes.
  package struct Limits: Sendable, Hashable {
    /// The maximum number of bytes of a document.
    package var size = 256 << 20
    /// The number of bytes that are read at most to find a neighbour of a known place, except in documents with so many
    /// large containers that ``entries`` is reached.
    package var spacing = 16 << 10
    /// The maximum number of containers, and of places in them, in an index. Above it, the spacing is doubled.
    package var entries = 32 << 10

    /// Creates limits with the default values.
    package init() {}
  }

  /// An object or an array of at least the spacing's length.
  struct Container: Sendable {
    /// The range of its bytes.
    var start: Int32
    var end: Int32
    /// The number of its children.
    var count: Int32
    /// The line of its beginning.
    var line: Int32
    /// The line after its end.
    var endLine: Int32
    let isObject: Bool
    /// The indices of its places in `marks`.
    var marks: Range<Int32> = 0..<0
  }

  /// The beginning of a child of a container; for a member of an object, that of its key.
  struct Mark: Sendable {
    /// The start of the container.
    let owner: Int32
    let offset: Int32
    /// The child's index in the container.
    let index: Int32
    let line: Int32
  }

  /// The number of documents: more than one for JSON Lines.
  package let documents: Int
  /// The number of lines.
  package let lines: Int
  /// The offset of the first document.
  let start: Int
  /// The least number of bytes between two places in a container.
  let spacing: Int
  /// The containers, by their start. In JSON Lines, the first one has the start -1 and contains all documents.
  let containers: [Container]
  /// The places in the containers, by container and offset.
  let marks: [Mark]

  /// The number of bytes from which on passing over them is faster than reading them.
  var shortestPass: Int { spacing / 4 }

  /// Whether several documents follow each other.
  package var isSequence: Bool { documents > 1 }

  /// The container that begins at `start`, if it is large.
  func container(at start: Int) -> Container? {
    let index = containers.firstIndex(from: { Int($0.start) >= start })
    guard index < containers.count, Int(containers[index].start) == start else { return nil }
    return containers[index]
  }

  /// The last known place in `container` at or before its child `index`.
  func mark(in container: Container, atOrBefore index: Int) -> Mark? {
    lastMark(in: container) { Int($0.index) <= index }
  }

  /// The last known place in `container` that satisfies `condition`, which all places before it satisfy too.
  func lastMark(in container: Container, where condition: (Mark) -> Bool) -> Mark? {
    let places = marks[Int(container.marks.lowerBound)..<Int(container.marks.upperBound)]
    let next = places.firstIndex(from: { !condition($0) })
    return next > places.startIndex ? places[next - 1] : nil
  }
}

extension RandomAccessCollection where Index == Int {
  /// The index of the first element that satisfies `condition`, which all elements after it satisfy too.
  func firstIndex(from condition: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
