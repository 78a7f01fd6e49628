import JSONText

/// Reads any place of a JSON document. Takes a fixed amount of memory, and time in proportion to what it returns; only
/// looking for a key reads the keys before it. Thread-safe; every call blocks while reading.
package struct JSONView: Sendable {
  /// Limits for one value in a list of values.
  package struct Limits: Sendable, Hashable {
    /// The maximum number of bytes of a string or key.
    package var text = 1024
    /// The maximum number of children in the preview of a container, and of bytes of each.
    package var items = 8
    package var itemText = 48
    /// The number of keys of one object among which duplicates are found.
    package var keys = 100_000

    /// Creates limits with the default values.
    package init() {}
  }

  /// The document.
  package let bytes: ViewedBytes
  /// Its index.
  package let index: JSONIndex
  let limits: Limits
  /// Whether the document was made from a property list, so that its values have types.
  private let hasTypes: Bool

  /// Creates a view of a document.
  package init(_ bytes: ViewedBytes, _ index: JSONIndex, hasTypes: Bool = false, limits: Limits = Limits()) {
    (self.bytes, self.index, self.hasTypes, self.limits) = (bytes, index, hasTypes, limits)
  }

  /// The whole document, or all documents of JSON Lines.
  package var root: JSONPlace {
    JSONPlace(path: JSONPath(), line: 0, index: 0, offset: index.isSequence ? -1 : index.start)
  }

  /// Reads one value.
  package func value(at place: JSONPlace) throws(ViewerError) -> JSONChild {
    guard !place.isSequence else {
      let children = try children(of: place, from: 0, limit: limits.items)
      var preview = JSONPreview()
      preview.count = index.documents
      preview.lines = index.lines
      preview.isComplete = false
      preview.items = children.map { $0.value.item(limit: limits.itemText) }
      return JSONChild(place: place, key: nil, isKeyCut: false, value: .array(preview))
    }
    var reader = JSONReader(bytes, from: place.offset, .value, textLength: limits.text)
    guard let token = try reader.token() else { throw .changed }
    let offset = reader.tokenizer.range.lowerBound
    let value = try self.value(token, &reader, in: nil)
    var child = JSONChild(place: place, key: nil, isKeyCut: false, value: value)
    child.type = try type(ofValueAt: offset)
    return child
  }

  /// The range of the bytes of the value at `place`; that of the whole file for all documents of JSON Lines.
  package func range(of place: JSONPlace) throws(ViewerError) -> Range<Int> {
    guard !place.isSequence else { return 0..<bytes.size }
    var reader = JSONReader(bytes, from: place.offset, .value)
    guard let token = try reader.token() else { throw .changed }
    let range = reader.tokenizer.range
    guard token == .beginObject || token == .beginArray else { return range }
    try reader.skipContainer(in: nil)
    return range.lowerBound..<reader.tokenizer.offset
  }

  /// The type of a value in a property list, if JSON does not have it.
  private func type(ofValueAt offset: Int) throws(ViewerError) -> PropertyListType? {
    guard hasTypes, offset > 0 else { return nil }
    return try bytes.read(upTo: 1, at: offset - 1).first.flatMap(PropertyListType.init(rawValue:))
  }

  /// Finds the value at the tokens of a JSON Pointer; `nil` if there is none. Of members with equal keys it finds the
  /// first.
  package func place(at pointer: [String]) throws(ViewerError) -> JSONPlace? {
    var place = root
    for token in pointer {
      guard let next = try child(token, of: place) else { return nil }
      place = next
    }
    return place
  }

  private static func isKey(_ key: [UInt8], _ wanted: [UInt8]) -> Bool {
    // The bytes of an unpaired surrogate are not those of its text.
    key == wanted || key.contains(0xED) && String(wholeCharactersOf: key[...]).utf8.elementsEqual(wanted)
  }

  private func child(_ token: String, of place: JSONPlace) throws(ViewerError) -> JSONPlace? {
    let wanted = Array(token.utf8)
    var walk = try JSONWalk(self, place, keepingText: wanted.count + 1)
    guard let isObject = walk.isObject else { return nil }
    if isObject {
      while let child = try walk.next() {
        if let key = child.key, Self.isKey(key, wanted) { return place.child(.key(token), child) }
        try walk.pass(child)
      }
      return nil
    }
    // RFC 6901 §4: no sign and no leading zero.
    guard let index = Int(token), token == "\(index)", index >= 0 else { return nil }
    try walk.advance(to: index)
    while let child = try walk.next() {
      if child.index == index { return place.child(.index(index), child) }
      try walk.pass(child)
    }
    return nil
  }

  /// The children of a container from the index `from` on, at most `limit`; none for other values.
  package func children(of place: JSONPlace, from: Int, limit: Int) throws(ViewerError) -> [JSONChild] {
    var walk = try JSONWalk(self, place, keepingText: limits.text)
    guard let isObject = walk.isObject else { return [] }
    if !isObject { try walk.advance(to: from) }
    var children: [JSONChild] = []
    var places: [Int: Int] = [:]
    var isFull = false
    while !isFull, let child = try walk.next() {
      let hash = child.key?.hashValue
      let earlier = hash.flatMap { hash in
        places.count < limits.keys ? places.updateValue(child.index, forKey: hash) : places[hash]
      }
      guard child.index >= from else {
        try walk.pass(child)
        continue
      }
      let step = child.key.map { JSONPath.Step.key(String(wholeCharactersOf: $0[...])) }
      var entry = JSONChild(
        place: place.child(step ?? .index(child.index), child),
        key: child.key.map { String(wholeCharactersOf: $0[...]) },
        isKeyCut: child.isKeyCut, value: try walk.value(child))
      entry.type = try type(ofValueAt: child.offset)
      if let earlier {
        entry.isDuplicate = true
        if earlier >= from { children[earlier - from].isDuplicate = true }
      }
      children.append(entry)
      isFull = children.count >= limit
    }
    return children
  }
}

extension JSONView {
  /// Members of an object: those with the keys that were asked for, and the others.
  package struct Members: Sendable {
    /// The first member with each of the keys.
    package internal(set) var named: [[UInt8]: JSONChild] = [:]
    /// The first members with other keys.
    package internal(set) var others: [JSONChild] = []
    /// The number of all members with other keys.
    package internal(set) var otherCount = 0
  }

  /// Reads the members of the object at `place` with these keys, and at most `limit` with other keys; none of other
  /// values. Passes over the object once, and over at most ``Limits/keys`` of its members.
  package func members(
    of place: JSONPlace, named keys: Set<[UInt8]>, others limit: Int
  ) throws(ViewerError) -> Members {
    var members = Members()
    var walk = try JSONWalk(self, place, keepingText: limits.text)
    guard walk.isObject == true else { return members }
    while let child = try walk.next(), child.index < limits.keys {
      guard let key = child.key, !child.isKeyCut else {
        try walk.pass(child)
        continue
      }
      let text = String(wholeCharactersOf: key[...])
      let name = Array(text.utf8)
      let isNamed = keys.contains(name)
      if !isNamed { members.otherCount += 1 }
      guard isNamed ? members.named[name] == nil : members.others.count < limit else {
        try walk.pass(child)
        continue
      }
      var entry = JSONChild(
        place: place.child(.key(text), child), key: text, isKeyCut: false, value: try walk.value(child))
      entry.type = try type(ofValueAt: child.offset)
      if isNamed { members.named[name] = entry } else { members.others.append(entry) }
    }
    return members
  }

  /// The bytes of the value at `place`, as written; `nil` if there are more than `limit`.
  package func source(of place: JSONPlace, limit: Int) throws(ViewerError) -> [UInt8]? {
    guard !place.isSequence else { return bytes.size <= limit ? try bytes.read(upTo: limit, at: 0) : nil }
    var start = place.offset
    var end: Int
    if let container = index.container(at: start) {
      end = Int(container.end)
    } else {
      // Not larger than the spacing of the index, except for strings and numbers.
      var reader = JSONReader(bytes, from: place.offset, .value)
      guard let token = try reader.token() else { throw .changed }
      start = reader.tokenizer.range.lowerBound
      end = reader.tokenizer.range.upperBound
      if token == .beginObject || token == .beginArray {
        _ = try pass(token, &reader, in: nil)
        end = reader.tokenizer.range.upperBound
      }
    }
    return end - start <= limit ? try bytes.read(upTo: end - start, at: start) : nil
  }
}

extension JSONPlace {
  /// The place of a child.
  func child(_ step: JSONPath.Step, _ child: JSONWalk.Child) -> JSONPlace {
    JSONPlace(path: path.appending(step), line: child.line, index: child.index, offset: child.offset)
  }
}
