import JSONText

/// A JSON document (RFC 8259) as a flat list of its values. Each value has a hash of its meaning, by which two
/// documents are compared: white space, the order of keys, and the spelling of strings and numbers make no difference.
///
/// Parsing is not recursive, so the nesting depth is bounded by a limit and not by the size of the stack.
struct JSONDocument {
  enum Kind: UInt8 { case null, boolean, number, string, array, object }

  /// A value, or the key of a member. A key is directly before the value of the member.
  struct Node {
    let kind: Kind
    /// The range of the node in the bytes.
    let start: Int32
    fileprivate(set) var end: Int32
    /// The index of the node after this one and its descendants.
    fileprivate(set) var next: Int32
    /// Equal for values with the same meaning; different for others, except for a random collision with a probability
    /// of 2⁻⁶⁴.
    fileprivate(set) var hash: Int
  }

  /// The reason why a document cannot be compared.
  enum Failure: Error {
    /// The document is not JSON, or an object contains a key twice, which parsers interpret differently.
    case malformed
    /// The document is nested too deeply or has too many values.
    case tooComplex
  }

  let bytes: [UInt8]
  /// All values, each before its descendants. The first is the whole document.
  private(set) var nodes: [Node] = []

  /// Parses `bytes`.
  init(_ bytes: [UInt8], limits: ComparisonLimits) throws(Failure) {
    guard bytes.count < Int(Int32.max) else { throw .malformed }
    self.bytes = bytes
    try read(limits)
  }

  /// The bytes of a node.
  func text(_ index: Int) -> ArraySlice<UInt8> { bytes[Int(nodes[index].start)..<Int(nodes[index].end)] }

  /// The indices of the direct children of a node: keys and values alternating, or elements.
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

  /// Closes the innermost container. Returns `false` if it is an object with a repeated key.
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

  /// Whether a key occurs twice, given the hashes of alternating keys and values.
  private static func repeatsKey(_ members: [Int]) -> Bool {
    let keys = stride(from: 0, to: members.count, by: 2)
    // Most objects are small, and creating a set for them would take most of the time.
    if members.count > 32 { return Set(keys.lazy.map { members[$0] }).count < members.count / 2 }
    return keys.contains { key in
      stride(from: key + 2, to: members.count, by: 2).contains { members[$0] == members[key] }
    }
  }
}
