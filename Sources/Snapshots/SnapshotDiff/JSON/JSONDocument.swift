import JSONText

/// A JSON document (RFC 8259) as a flat list of its values. Each value has a hash of its meaning, by which two
/// documents are compared: white space, the order of keys, and the spelling of strings and numbers make no difference.
///
/// Several values in a row (JSON Lines) are read as an array of them. Values that a filter omits have no part in the hash
/// of the value around them.
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
    /// Whether a filter omits the value.
    fileprivate(set) var isOmitted = false
  }

  /// The reason why a document cannot be compared.
  enum Failure: Error {
    /// The document is not JSON, or an object contains a key twice, which parsers interpret differently.
    case malformed
    /// The document is nested too deeply or has too many values.
    case tooComplex
  }

  let bytes: [UInt8]
  /// An array of all values in a row, and then all values, each before its descendants.
  private(set) var nodes: [Node] = []

  /// Whether a value is omitted.
  private(set) var omitsAny = false
  /// Whether the bytes are several values in a row. Otherwise, the only value is the second node.
  private(set) var isSequence = false

  /// Parses `bytes`.
  init(
    _ bytes: [UInt8], limits: ComparisonLimits, filter: ComparisonFilter = ComparisonFilter()
  ) throws(Failure) {
    guard bytes.count < Int(Int32.max) else { throw .malformed }
    self.bytes = bytes
    try read(limits, filter)
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

  /// A container that is not complete yet.
  private struct Container {
    let index: Int
    /// Where the filter's paths are.
    let position: ComparisonFilter.Position?
    /// The number of elements before the next one.
    var count = 0
    /// The key of the next value.
    var key: String?
  }

  private mutating func read(_ limits: ComparisonLimits, _ filter: ComparisonFilter) throws(Failure) {
    var configuration = JSONTokenizer.Configuration()
    configuration.depth = limits.depth
    configuration.allowsSequence = true
    var tokenizer = JSONTokenizer(configuration)
    tokenizer.feed(bytes)
    tokenizer.finish()
    nodes.append(Node(kind: .array, start: 0, end: Int32(bytes.count), next: 0, hash: 0))
    var open = [Container(index: 0, position: nil)]
    while let token = try Self.next(&tokenizer) {
      if token == .endObject || token == .endArray {
        guard let index = open.popLast()?.index, close(index, at: tokenizer.range.upperBound) else {
          throw .malformed
        }
        continue
      }
      guard nodes.count <= limits.values else { throw .tooComplex }
      append(token, tokenizer)
      if token == .key {
        if !filter.isEmpty { open[open.count - 1].key = String(decoding: tokenizer.text, as: UTF8.self) }
        continue
      }
      let position = filter.isEmpty ? nil : omit(filter, &open[open.count - 1], isTopLevel: open.count == 1)
      if token == .beginObject || token == .beginArray {
        open.append(Container(index: nodes.count - 1, position: position))
      }
    }
    try finish()
  }

  /// Marks the last value if the filter omits it, and returns its position in the filter's paths.
  private mutating func omit(
    _ filter: ComparisonFilter, _ container: inout Container, isTopLevel: Bool
  ) -> ComparisonFilter.Position? {
    let step = container.key.map { JSONPath.Step.key($0) } ?? .index(container.count)
    container.count += 1
    guard !isTopLevel else { return filter.start }
    let position = filter.hasPatterns ? container.position.map { filter.advance($0, by: step) } : nil
    if container.key.map({ filter.omits(key: $0) }) ?? false || position.map(filter.omits) ?? false {
      nodes[nodes.count - 1].isOmitted = true
      omitsAny = true
    }
    return position
  }

  /// Closes the array of all values. Numbers and words in a row are text, and only objects and arrays are JSON Lines.
  private mutating func finish() throws(Failure) {
    nodes[0].next = Int32(nodes.count)
    let values = children(of: 0)
    guard values.count == 1 || values.allSatisfy({ nodes[$0].kind == .object || nodes[$0].kind == .array }),
      !values.isEmpty
    else { throw .malformed }
    isSequence = values.count > 1
    nodes[0].hash = JSONHash.array(values.map { nodes[$0].hash })
  }

  private static func next(_ tokenizer: inout JSONTokenizer) throws(Failure) -> JSONTokenizer.Token? {
    do {
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

  /// Closes a container. Returns `false` if it is an object with a repeated key.
  private mutating func close(_ index: Int, at end: Int) -> Bool {
    nodes[index].end = Int32(end)
    nodes[index].next = Int32(nodes.count)
    let children = children(of: index)
    if nodes[index].kind == .array {
      nodes[index].hash = JSONHash.array(children.filter { !nodes[$0].isOmitted }.map { nodes[$0].hash })
      return true
    }
    let hashes = children.map { nodes[$0].hash }
    guard !Self.repeatsKey(hashes) else { return false }
    nodes[index].hash = JSONHash.object(omitsAny ? comparedMembers(children) : hashes)
    return true
  }

  /// The hashes of the keys and values that are not omitted.
  private func comparedMembers(_ children: [Int]) -> [Int] {
    stride(from: 0, to: children.count, by: 2).flatMap { key in
      nodes[children[key + 1]].isOmitted ? [] : [nodes[children[key]].hash, nodes[children[key + 1]].hash]
    }
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
