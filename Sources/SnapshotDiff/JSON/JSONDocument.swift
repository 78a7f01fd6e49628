/// A JSON document (RFC 8259) as a flat list of its values, each with a hash of what it means: two documents are
/// compared by these, whatever their spaces, the order of their keys, and the spelling of their texts and numbers.
///
/// It takes no stack: how deep a document is nested is bounded by a number, and not by luck.
struct JSONDocument {
  enum Kind: UInt8 { case null, boolean, number, string, array, object }

  /// A value, or the key of a member, which stands before the member's value.
  struct Node {
    let kind: Kind
    /// Where it stands in the bytes.
    let start: Int32
    fileprivate(set) var end: Int32
    /// The index of the node behind it and all that is in it.
    fileprivate(set) var next: Int32
    /// The same for all values that mean the same, and for no others (but for chance, once in 2⁶⁴).
    fileprivate(set) var hash: Int
  }

  /// Why something is no document to compare.
  enum Failure: Error {
    /// It is no JSON, or has a key twice in one object, so that readers would differ on it.
    case malformed
    /// It is nested deeper, or has more values, than is allowed.
    case tooComplex
  }

  let bytes: [UInt8]
  /// Each value before those in it; the first is the whole document.
  private(set) var nodes: [Node] = []

  /// Reads `bytes`.
  init(_ bytes: [UInt8], limits: ComparisonLimits) throws(Failure) {
    guard bytes.count < Int(Int32.max), String(validating: bytes, as: UTF8.self) != nil else {
      throw .malformed
    }
    self.bytes = bytes
    try read(limits)
  }

  /// The bytes of a node.
  func text(_ index: Int) -> ArraySlice<UInt8> { bytes[Int(nodes[index].start)..<Int(nodes[index].end)] }

  /// The indices of the nodes just below one: a key and a value in turn, or the elements.
  func children(of index: Int) -> [Int] {
    var children: [Int] = []
    var child = index + 1
    while child < Int(nodes[index].next) {
      children.append(child)
      child = Int(nodes[child].next)
    }
    return children
  }

  /// What is to come next.
  private enum Expectation { case value, valueOrEnd, key, keyOrEnd, separator }

  private mutating func read(_ limits: ComparisonLimits) throws(Failure) {
    var scanner = JSONScanner(bytes)
    var open: [Int] = []
    var expectation = Expectation.value
    repeat {
      scanner.skipSpace()
      let start = scanner.position
      guard let byte = scanner.peek() else { throw .malformed }
      if expectation == .separator {
        guard let container = open.last else { throw .malformed }
        scanner.skip()
        let isObject = nodes[container].kind == .object
        switch byte {
        case UInt8(ascii: ","): expectation = isObject ? .key : .value
        case isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"): try close(&open, at: scanner.position)
        default: throw .malformed
        }
        continue
      }
      guard nodes.count < limits.values else { throw .tooComplex }
      if expectation == .key || expectation == .keyOrEnd {
        if byte == UInt8(ascii: "}"), expectation == .keyOrEnd {
          scanner.skip()
          try close(&open, at: scanner.position)
          expectation = .separator
          continue
        }
        guard scanner.takeString() else { throw .malformed }
        append(.string, start, scanner.position, hash: JSONHash.string(bytes[start..<scanner.position]))
        scanner.skipSpace()
        guard scanner.peek() == UInt8(ascii: ":") else { throw .malformed }
        scanner.skip()
        expectation = .value
        continue
      }
      switch byte {
      case UInt8(ascii: "]") where expectation == .valueOrEnd:
        scanner.skip()
        try close(&open, at: scanner.position)
        expectation = .separator
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        guard open.count < limits.depth else { throw .tooComplex }
        scanner.skip()
        open.append(nodes.count)
        let isObject = byte == UInt8(ascii: "{")
        append(isObject ? .object : .array, start, start, hash: 0)
        expectation = isObject ? .keyOrEnd : .valueOrEnd
      default:
        guard let kind = scanner.takeScalar() else { throw .malformed }
        append(kind, start, scanner.position, hash: JSONHash.scalar(kind, bytes[start..<scanner.position]))
        expectation = .separator
      }
    } while !open.isEmpty
    scanner.skipSpace()
    guard scanner.peek() == nil else { throw .malformed }
  }

  private mutating func append(_ kind: Kind, _ start: Int, _ end: Int, hash: Int) {
    nodes.append(
      Node(kind: kind, start: Int32(start), end: Int32(end), next: Int32(nodes.count + 1), hash: hash))
  }

  /// Ends the innermost container.
  private mutating func close(_ open: inout [Int], at end: Int) throws(Failure) {
    guard let index = open.popLast() else { throw .malformed }
    nodes[index].end = Int32(end)
    nodes[index].next = Int32(nodes.count)
    if nodes[index].kind == .array {
      nodes[index].hash = JSONHash.array(children(of: index).map { nodes[$0].hash })
      return
    }
    let hashes = children(of: index).map { nodes[$0].hash }
    guard !Self.repeatsKey(hashes) else { throw .malformed }
    nodes[index].hash = JSONHash.object(hashes)
  }

  /// Whether a key is there twice among the hashes of keys and values in turn.
  private static func repeatsKey(_ members: [Int]) -> Bool {
    let keys = stride(from: 0, to: members.count, by: 2)
    // A set of its own would be most of the work for the small objects that most are.
    if members.count > 32 { return Set(keys.lazy.map { members[$0] }).count < members.count / 2 }
    return keys.contains { key in
      stride(from: key + 2, to: members.count, by: 2).contains { members[$0] == members[key] }
    }
  }
}
