import JSONText

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
    guard bytes.count < Int(Int32.max) else { throw .malformed }
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

  private mutating func read(_ limits: ComparisonLimits) throws(Failure) {
    var configuration = JSONTokenizer.Configuration()
    configuration.depth = limits.depth
    var tokenizer = JSONTokenizer(configuration)
    tokenizer.feed(bytes)
    tokenizer.finish()
    var open: [Int] = []
    while let token = try Self.next(&tokenizer) {
      if token == .endObject || token == .endArray {
        guard close(&open, at: tokenizer.range.upperBound) else { throw .malformed }
        continue
      }
      guard nodes.count < limits.values else { throw .tooComplex }
      if token == .beginObject || token == .beginArray { open.append(nodes.count) }
      append(token, tokenizer)
    }
  }

  private static func next(_ tokenizer: inout JSONTokenizer) throws(Failure) -> JSONTokenizer.Token? {
    do throws(JSONFailure) {
      return try tokenizer.next()
    } catch {
      throw error.isDepth ? .tooComplex : .malformed
    }
  }

  private mutating func append(_ token: JSONTokenizer.Token, _ tokenizer: JSONTokenizer) {
    let (kind, hash): (Kind, Int) =
      switch token {
      case .beginObject, .endObject: (.object, 0)
      case .beginArray, .endArray: (.array, 0)
      case .key, .string: (.string, JSONHash.string(tokenizer.text[...]))
      case .number: (.number, JSONHash.number(tokenizer.text[...]))
      case .boolean(let value): (.boolean, JSONHash.word(value))
      case .null: (.null, JSONHash.word(nil))
      }
    nodes.append(
      Node(
        kind: kind, start: Int32(tokenizer.range.lowerBound), end: Int32(tokenizer.range.upperBound),
        next: Int32(nodes.count + 1), hash: hash))
  }

  /// Ends the innermost container; answers whether it has no key twice.
  private mutating func close(_ open: inout [Int], at end: Int) -> Bool {
    guard let index = open.popLast() else { return false }
    nodes[index].end = Int32(end)
    nodes[index].next = Int32(nodes.count)
    if nodes[index].kind == .array {
      nodes[index].hash = JSONHash.array(children(of: index).map { nodes[$0].hash })
      return true
    }
    let hashes = children(of: index).map { nodes[$0].hash }
    nodes[index].hash = JSONHash.object(hashes)
    return !Self.repeatsKey(hashes)
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
