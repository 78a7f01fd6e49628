import JSONText

/// Compares two JSON documents by descending into the values that differ.
struct JSONComparison {
  private let first: JSONDocument
  private let second: JSONDocument
  private let limits: ComparisonLimits
  private(set) var list: ChangeList<JSONPath>

  /// Compares two documents and collects up to `limit` changes.
  init(_ first: JSONDocument, _ second: JSONDocument, limits: ComparisonLimits, limit: Int) {
    self.first = first
    self.second = second
    self.limits = limits
    list = ChangeList(limit: limit)
    compare(0, 0, JSONPath())
  }

  private mutating func compare(_ one: Int, _ other: Int, _ path: JSONPath) {
    let (node, otherNode) = (first.nodes[one], second.nodes[other])
    if node.hash == otherNode.hash || list.isFull { return }
    switch (node.kind, otherNode.kind) {
    case (.object, .object): compareObjects(one, other, path)
    case (.array, .array): compareArrays(one, other, path)
    case (.string, .string):
      let (text, otherText) = (first.text(one), second.text(other))
      let start = Self.start(ofDifference: text, otherText, within: limits.excerptLength)
      list.append(
        path, first: JSONExcerpt.excerpt(text, from: start, limit: limits.excerptLength),
        second: JSONExcerpt.excerpt(otherText, from: start, limit: limits.excerptLength))
    default:
      list.append(path, first: excerpt(first, one), second: excerpt(second, other))
    }
  }

  /// The offset from which to show two strings, so that their difference is visible.
  private static func start(
    ofDifference first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>, within length: Int
  ) -> Int {
    let common = zip(first, second).prefix { $0 == $1 }.count
    return common < length / 4 * 3 ? 0 : common - length / 4
  }

  private func excerpt(_ document: JSONDocument, _ index: Int) -> String {
    JSONExcerpt.excerpt(document.text(index), limit: limits.excerptLength)
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
        list.append(path.appending(.key(keyText(first, key))), first: excerpt(first, value))
      }
      if list.isFull { return }
    }
    for index in stride(from: 0, to: otherMembers.count, by: 2) {
      let (key, value) = (otherMembers[index], otherMembers[index + 1])
      guard values[second.nodes[key].hash] != nil else { continue }
      list.append(path.appending(.key(keyText(second, key))), second: excerpt(second, value))
      if list.isFull { return }
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
        if list.isFull { return }
        let isPair =
          x < pair.first && y < pair.second && !names[x].isIdentity && !otherNames[y].isIdentity
        if isPair {
          compare(elements[x], otherElements[y], path.appending(.index(y)))
          x += 1
          y += 1
        } else if x < pair.first {
          list.append(path.appending(.index(x)), first: excerpt(first, elements[x]))
          x += 1
        } else {
          list.append(path.appending(.index(y)), second: excerpt(second, otherElements[y]))
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
      if identities.contains(document.nodes[child].hash), kind == .string || kind == .number {
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

/// Formats keys and values of a JSON document for display.
enum JSONExcerpt {
  /// Decodes up to `limit` bytes of a quoted string. A string that cannot be decoded is shown as written.
  static func key(_ quoted: ArraySlice<UInt8>, limit: Int = .max) -> String {
    var configuration = JSONTokenizer.Configuration()
    configuration.textLength = limit
    var tokenizer = JSONTokenizer(configuration)
    tokenizer.feed(Array(quoted))
    do throws(JSONFailure) {
      // A string on its own is a valid JSON document.
      guard try tokenizer.next() == .string else { return excerpt(quoted, limit: limit) }
    } catch {
      return excerpt(quoted, limit: limit)
    }
    let isWhole = tokenizer.text.count == tokenizer.textLength
    let bytes = wholeCharacters(tokenizer.text[...], endsWhole: isWhole)
    return String(decoding: bytes, as: UTF8.self) + (isWhole ? "" : "…")
  }

  /// Formats up to `limit` bytes of a value, starting at byte `start`, without white space outside strings. `…` marks
  /// omitted text.
  static func excerpt(_ text: ArraySlice<UInt8>, from start: Int = 0, limit: Int) -> String {
    var shown: [UInt8] = []
    var isInText = false
    var isEscaped = false
    var isWhole = true
    for (offset, byte) in text.enumerated() {
      let isSpace = !isInText && (byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09)
      if isInText {
        isInText = isEscaped || byte != UInt8(ascii: "\"")
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      } else {
        isInText = byte == UInt8(ascii: "\"")
      }
      if isSpace || offset < start { continue }
      if shown.count >= limit {
        isWhole = false
        break
      }
      shown.append(byte)
    }
    let wholes = Self.wholeCharacters(shown[...], endsWhole: isWhole)
    return (start > 0 ? "…" : "") + String(decoding: wholes, as: UTF8.self) + (isWhole ? "" : "…")
  }

  /// `bytes` without incomplete characters at either end.
  private static func wholeCharacters(_ bytes: ArraySlice<UInt8>, endsWhole: Bool) -> ArraySlice<UInt8> {
    let begun = bytes.drop { $0 & 0xC0 == 0x80 }
    guard !endsWhole, let lead = begun.lastIndex(where: { $0 & 0xC0 != 0x80 }) else { return begun }
    let length =
      switch begun[lead] {
      case 0xF0...: 4
      case 0xE0...: 3
      case 0xC0...: 2
      default: 1
      }
    return begun.endIndex - lead < length ? begun[..<lead] : begun
  }
}
