import SnapshotDiff

extension FuzzedParser {
  /// A comparison does not trap and stays within its limits. It finds no change between a document and itself or an
  /// equivalent spelling, and its verdict does not depend on the order of the documents.
  ///
  /// `input` is two documents, separated by the first byte 0xFF, which occurs in no JSON and no text.
  func checkComparison(_ input: [UInt8]) throws {
    let first = Array(input.prefix { $0 != 0xFF })
    let second = Array(input.dropFirst(first.count + 1))
    var small = ComparisonLimits()
    (small.values, small.depth, small.changes, small.excerptLength, small.keyLength) = (40, 6, 3, 5, 4)
    for limits in [ComparisonLimits(), small] {
      let detail = compare(first, second, limits)
      try checkBounds(detail, limits)
      let reversed = compare(second, first, limits)
      try checkBounds(reversed, limits)
      try checkSymmetry(detail, reversed)
      for content in [first, second] { try checkSameness(content, limits) }
    }
    try checkNumbers(first, second)
  }

  private func compare(
    _ first: [UInt8], _ second: [UInt8], _ limits: ComparisonLimits
  ) -> RecordingDifference.Detail {
    RecordingDifference.Detail(first, second, limits: limits, limit: limits.changes)
  }

  private func checkBounds(_ detail: RecordingDifference.Detail, _ limits: ComparisonLimits) throws {
    try require(detail.reportedCount <= limits.changes, "\(detail.reportedCount) changes are reported")
    switch detail {
    case .json(let changes):
      try require(
        changes.isComplete || changes.rows.count == limits.changes,
        "\(changes.rows.count) changes, but the result is incomplete")
      for change in changes.rows {
        try require(change.first != nil || change.second != nil, "no value is reported for \(change.place)")
        try require(change.place.steps.count <= limits.depth, "the path \(change.place) is too deep")
        // An ellipsis marks an omission at either end of a string, and characters can be escaped.
        for shown in [change.first, change.second].compactMap(\.self) {
          try require(shown.utf8.count <= limits.excerptLength * 6 + 8, "\(shown) is longer than allowed")
        }
      }
    case .text(let changes):
      try require(
        changes.isComplete || changes.rows.count == limits.changes,
        "\(changes.rows.count) lines, but the result is incomplete")
      for change in changes.rows { try require(change.place > 0, "line \(change.place)") }
    case .omitted: throw BrokenProperty(description: "values are omitted without a filter")
    case .bytes, .beyondLimits: break
    }
  }

  private func checkSymmetry(
    _ detail: RecordingDifference.Detail, _ reversed: RecordingDifference.Detail
  ) throws {
    let isAlike =
      switch (detail, reversed) {
      case (.json(let changes), .json(let others)): (changes.count == 0) == (others.count == 0)
      case (.text(let changes), .text(let others)): (changes.count == 0) == (others.count == 0)
      case (.bytes(let first), .bytes(let second)): first == second
      case (.beyondLimits, .beyondLimits): true
      // The documents are read in order, so a document that is too large can be found before or after one that is not
      // JSON.
      case (.beyondLimits, _), (_, .beyondLimits): true
      default: false
      }
    try require(isAlike, "\(detail) one way, \(reversed) the other")
  }

  private func checkSameness(_ content: [UInt8], _ limits: ComparisonLimits) throws {
    let padded = Array(" \n".utf8) + content + Array("\t\n".utf8)
    switch compare(content, content, limits) {
    case .json(let changes):
      try require(changes.count == 0, "a document differs from itself: \(changes)")
      // A byte order mark is allowed only at the beginning.
      guard content.first != 0xEF else { return }
      guard case .json(let changes) = compare(content, padded, limits), changes.count == 0 else {
        throw BrokenProperty(description: "a document differs from itself with spaces around it")
      }
    case .text(let changes):
      try require(changes.count == 0, "a text differs from itself: \(changes)")
    case .bytes(let offset): try require(offset == content.count, "bytes differ from themselves at \(offset)")
    case .omitted, .beyondLimits: break
    }
  }

  /// Two numbers are equal exactly if they have the same digits when written without an exponent.
  private func checkNumbers(_ first: [UInt8], _ second: [UInt8]) throws {
    guard let one = Self.writtenOut(first), let other = Self.writtenOut(second) else { return }
    guard case .json(let changes) = compare(first, second, .default) else {
      throw BrokenProperty(description: "two numbers are not accepted as JSON")
    }
    try require((changes.count == 0) == (one == other), "\(one) and \(other): \(changes)")
  }

  /// A JSON number without an exponent and without insignificant zeros; `nil` if the bytes are not a number, or if it
  /// would have too many digits.
  private static func writtenOut(_ bytes: [UInt8]) -> String? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let match = text.wholeMatch(of: /(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?/) else {
      return nil
    }
    let exponent = match.4.map { Int($0) } ?? 0
    guard let exponent, (-500...500).contains(exponent) else { return nil }
    var whole = String(match.2)
    var fraction = String(match.3 ?? "")
    if exponent >= 0 {
      fraction += String(repeating: "0", count: max(0, exponent - fraction.count))
      whole += fraction.prefix(exponent)
      fraction = String(fraction.dropFirst(exponent))
    } else {
      whole = String(repeating: "0", count: max(0, -exponent - whole.count)) + whole
      fraction = whole.suffix(-exponent) + fraction
      whole = String(whole.dropLast(-exponent))
    }
    let shown = whole.drop { $0 == "0" }
    let end = fraction.lastIndex { $0 != "0" }.map { fraction[...$0] } ?? ""
    if shown.isEmpty, end.isEmpty { return "0" }
    return "\(match.1)\(shown).\(end)"
  }
}
