import JSONText

/// Counts values by the forms of their paths, in a limited amount of memory.
struct ContentTally {
  /// A step in the form of a path.
  private struct Step: Hashable {
    /// The number of the form before the step.
    let parent: Int
    /// The key; `nil` for any index.
    let key: [UInt8]?
  }

  private struct ValueKey: Hashable {
    let type: ContentType?
    let text: [UInt8]
  }

  private struct Group {
    /// The values by their beginnings.
    var indices: [ValueKey: Int] = [:]
    var values: [ContentFindings.Value] = []
    var count = 0
  }

  private let limits: ContentSearch.Limits
  private var steps: [Step: Int] = [:]
  /// The steps by their numbers, from 1 on. The number 0 is the document.
  private var forms: [Step] = []
  private var groups: [Int: Group] = [:]
  private var order: [Int] = []
  private var valueCount = 0
  private var count = 0
  private var hits = 0

  init(_ limits: ContentSearch.Limits) { self.limits = limits }

  /// Counts a match for the numbers of the file's page.
  mutating func countHit() { hits += 1 }

  /// Adds the current value of `matcher`, which is in the container at `depth`.
  mutating func add(
    _ type: ContentType, _ text: [UInt8], _ match: TextMatch?, in matcher: inout ContentMatcher, depth: Int
  ) {
    count += 1
    guard let form = form(in: &matcher, depth: depth) else { return }
    add(to: form, type, text[...], match, line: nil) { limits in
      let length = matcher.levels[..<depth].reduce(0) { $0 + ($1.isObject ? $1.key.count + 4 : 8) }
      return length <= limits.path ? matcher.path(depth: depth, isSequence: true) : nil
    }
  }

  /// Adds a line.
  mutating func add(line: Int, _ text: ArraySlice<UInt8>, _ match: TextMatch) {
    count += 1
    add(to: 0, nil, text, match, line: line) { _ in nil }
  }

  private mutating func add(
    to form: Int, _ type: ContentType?, _ text: ArraySlice<UInt8>, _ match: TextMatch?, line: Int?,
    _ path: (ContentSearch.Limits) -> JSONPath?
  ) {
    if groups[form] == nil {
      guard groups.count < limits.groups else { return }
      groups[form] = Group()
      order.append(form)
    }
    groups[form]?.count += 1
    let key = ValueKey(type: type, text: Array(text.prefix(limits.valueLength)))
    if let index = groups[form]?.indices[key] {
      groups[form]?.values[index].count += 1
      return
    }
    guard valueCount < limits.allValues, let known = groups[form]?.values.count, known < limits.values else {
      return
    }
    valueCount += 1
    let found = match ?? TextMatch(text: text, range: text.startIndex..<text.startIndex)
    let excerpt = Excerpt(found, lead: limits.valueLength / 2, limit: limits.valueLength)
    groups[form]?.indices[key] = known
    groups[form]?.values.append(
      ContentFindings.Value(
        type: type, excerpt: excerpt, isWhole: excerpt.text.utf8.elementsEqual(text), path: path(limits),
        line: line, hit: hits))
  }

  /// The number of the form of the path to the current child of the container at `depth`; `nil` beyond the limit.
  private mutating func form(in matcher: inout ContentMatcher, depth: Int) -> Int? {
    guard depth > 1 else { return 0 }
    var form = 0
    for index in 1..<depth {
      // The form of the path to a container is known from the first match in it.
      if let known = matcher.levels[index].mark {
        form = known
        continue
      }
      if index > 1 {
        guard let next = number(of: matcher.levels[index - 1], after: form) else { return nil }
        form = next
      }
      matcher.mark(index, as: form)
    }
    return number(of: matcher.levels[depth - 1], after: form)
  }

  private mutating func number(of level: ContentMatcher.Level, after parent: Int) -> Int? {
    let step = Step(parent: parent, key: level.isObject ? level.key : nil)
    if let known = steps[step] { return known }
    guard forms.count < limits.forms else { return nil }
    forms.append(step)
    steps[step] = forms.count
    return forms.count
  }

  /// What was found.
  /// - Parameter isSequence: whether the file has several documents.
  func findings(isText: Bool, isSequence: Bool) -> ContentFindings {
    let all = order.enumerated().compactMap { index, form in
      groups[form].map { (index, self.group($0, form, isText: isText, isSequence: isSequence)) }
    }
    let listed = all.sorted { ($0.1.rarity, $0.0) < ($1.1.rarity, $1.0) }.map(\.1).prefix(limits.listedGroups)
    return ContentFindings(
      groups: Array(listed), count: count, otherGroups: all.count - listed.count,
      otherCount: count - listed.reduce(0) { $0 + $1.count })
  }

  private func group(_ group: Group, _ form: Int, isText: Bool, isSequence: Bool) -> ContentFindings.Group {
    let sorted = group.values.enumerated().sorted {
      ($0.element.count, $0.offset) < ($1.element.count, $1.offset)
    }
    .map(\.element)
    let most = limits.listedValues
    // The most common value shows what the rare ones differ from.
    var listed = sorted.count <= most ? sorted : Array(sorted.prefix(most - 1) + sorted.suffix(1))
    if !isSequence { for index in listed.indices { listed[index].path = listed[index].path?.inDocument } }
    let pattern = isText ? nil : pattern(form, isSequence: isSequence)
    return ContentFindings.Group(
      pattern: pattern?.text, isPatternWhole: pattern?.isWhole ?? true, values: listed, count: group.count,
      otherValues: sorted.count - listed.count, otherCount: group.count - listed.reduce(0) { $0 + $1.count },
      rarity: sorted.isEmpty ? 1 : Double(sorted[0].count) / Double(sorted[sorted.count - 1].count))
  }

  private func pattern(_ form: Int, isSequence: Bool) -> (text: String, isWhole: Bool) {
    var steps: [Step] = []
    var rest = form
    while rest > 0 {
      steps.append(forms[rest - 1])
      rest = forms[rest - 1].parent
    }
    if isSequence { steps.append(Step(parent: 0, key: nil)) }
    var text = ""
    for step in steps.reversed() {
      var next = ".[*]"
      if let key = step.key { next = JSONPath([.key(String(wholeCharactersOf: key[...]))]).description }
      // Only the first bracket has a dot before it.
      if !text.isEmpty, next.hasPrefix(".[") { next.removeFirst() }
      guard text.utf8.count + next.utf8.count <= limits.path else { return (text + "…", false) }
      text += next
    }
    return (text.isEmpty ? "." : text, true)
  }
}

extension JSONPath {
  /// The path in a document, without its index in the list of all documents.
  fileprivate var inDocument: JSONPath { JSONPath(Array(steps.dropFirst())) }
}
