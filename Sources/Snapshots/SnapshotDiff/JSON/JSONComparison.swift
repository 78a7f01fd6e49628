import JSONText

/// Compares two JSON documents by descending into the values that differ.
struct JSONComparison {
  private let first: JSONDocument
  private let second: JSONDocument
  private let limits: ComparisonLimits
  private(set) var list: ChangeList<JSONPath>

  /// Compares two documents and reports up to `limit` changes.
  init(_ first: JSONDocument, _ second: JSONDocument, limits: ComparisonLimits, limit: Int) {
    self.first = first
    self.second = second
    self.limits = limits
    list = ChangeList(skipping: limits.skippedChanges, limit: limit)
    let root = first.isSequence || second.isSequence ? 0 : 1
    compare(root, root, JSONPath())
  }

  private mutating func compare(_ one: Int, _ other: Int, _ path: JSONPath) {
    let (node, otherNode) = (first.nodes[one], second.nodes[other])
    if node.hash == otherNode.hash || node.isOmitted || otherNode.isOmitted { return }
    switch (node.kind, otherNode.kind) {
    case (.object, .object): compareObjects(one, other, path)
    case (.array, .array): compareArrays(one, other, path)
    case (.string, .string): reportStrings(one, other, path)
    default: report(path, one, other)
    }
  }

  /// Reports values that differ, or the only one. A value that is omitted does not differ.
  private mutating func report(_ path: JSONPath, _ one: Int?, _ other: Int?) {
    let (first, second, limit) = (first, second, limits.excerptLength)
    if one.map({ first.nodes[$0].isOmitted }) ?? false || other.map({ second.nodes[$0].isOmitted }) ?? false {
      return
    }
    list.append {
      Change(
        place: path, first: one.map { JSONExcerpt.value($0, in: first, limit: limit) },
        second: other.map { JSONExcerpt.value($0, in: second, limit: limit) })
    }
  }

  /// Reports strings that differ, from shortly before their first difference.
  private mutating func reportStrings(_ one: Int, _ other: Int, _ path: JSONPath) {
    let (text, otherText, limit) = (first.text(one), second.text(other), limits.excerptLength)
    list.append {
      guard let decoded = JSONExcerpt.decoded(text), let otherDecoded = JSONExcerpt.decoded(otherText) else {
        return Change(
          place: path, first: JSONExcerpt.compact(text, limit: limit),
          second: JSONExcerpt.compact(otherText, limit: limit))
      }
      let common = zip(decoded, otherDecoded).prefix { $0 == $1 }.count
      let start = common < limit / 4 * 3 ? 0 : common - limit / 4
      return Change(
        place: path, first: JSONExcerpt.string(decoded, from: start, limit: limit),
        second: JSONExcerpt.string(otherDecoded, from: start, limit: limit))
    }
  }

  private func keyText(_ document: JSONDocument, _ index: Int) -> String {
    JSONExcerpt.key(document.text(index), limit: limits.keyLength)
  }

  private mutating func compareObjects(_ one: Int, _ other: Int, _ path: JSONPath) {
    let (members, otherMembers) = (first.children(of: one), second.children(of: other))
    var values: [Int: Int] = [:]
    for index in stride(from: 0, to: otherMembers.count, by: 2) {
      values[second.nodes[otherMembers[index]].hash] = otherMembers[index + 1]
    }
    for index in stride(from: 0, to: members.count, by: 2) {
      let (key, value) = (members[index], members[index + 1])
      if let otherValue = values.removeValue(forKey: first.nodes[key].hash) {
        if first.nodes[value].hash != second.nodes[otherValue].hash {
          compare(value, otherValue, path.appending(.key(keyText(first, key))))
        }
      } else {
        report(path.appending(.key(keyText(first, key))), value, nil)
      }
    }
    for index in stride(from: 0, to: otherMembers.count, by: 2) {
      let (key, value) = (otherMembers[index], otherMembers[index + 1])
      guard values[second.nodes[key].hash] != nil else { continue }
      report(path.appending(.key(keyText(second, key))), nil, value)
    }
  }

  /// Compares corresponding elements: elements that are equal or have the same identifier, and the elements between two
  /// such pairs, one by one.
  private mutating func compareArrays(_ one: Int, _ other: Int, _ path: JSONPath) {
    let (elements, otherElements) = (first.children(of: one), second.children(of: other))
    let names = elements.map { Self.name(of: $0, in: first) }
    let otherNames = otherElements.map { Self.name(of: $0, in: second) }
    let alignment = SequenceAlignment(names.map(\.hash), otherNames.map(\.hash))
    var (x, y) = (0, 0)
    for pair in alignment.pairs + [(elements.count, otherElements.count)] {
      while x < pair.first || y < pair.second {
        let isPair =
          x < pair.first && y < pair.second && !names[x].isIdentity && !otherNames[y].isIdentity
        if isPair {
          compare(elements[x], otherElements[y], path.appending(.index(y)))
          x += 1
          y += 1
        } else if x < pair.first {
          report(path.appending(.index(x)), elements[x], nil)
          x += 1
        } else {
          report(path.appending(.index(y)), nil, otherElements[y])
          y += 1
        }
      }
      if pair.first < elements.count {
        compare(elements[pair.first], otherElements[pair.second], path.appending(.index(pair.second)))
      }
      (x, y) = (pair.first + 1, pair.second + 1)
    }
  }

  /// The value by which an element of an array is recognized: the identifier of an object that has one, otherwise the
  /// whole element.
  private static func name(of index: Int, in document: JSONDocument) -> (hash: Int, isIdentity: Bool) {
    let node = document.nodes[index]
    guard node.kind == .object else { return (node.hash, false) }
    var child = index + 1
    while child < Int(node.next) {
      let value = child + 1
      let kind = document.nodes[value].kind
      if identities.contains(document.nodes[child].hash), kind == .string || kind == .number,
        !document.nodes[value].isOmitted
      {
        return (document.nodes[value].hash, true)
      }
      child = Int(document.nodes[value].next)
    }
    return (node.hash, false)
  }

  /// The keys of objects that are used as identifiers.
  private static let identities = Set(
    ["id", "_id", "uuid", "identifier"].map {
      JSONHash.string(Array($0.utf8)[...])
    })
}
