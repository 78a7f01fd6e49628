package import JSONText

/// What was found in one file: the values at the places of the same form, with their numbers.
package struct ContentFindings: Sendable, Hashable {
  /// A value, which can be in many places.
  package struct Value: Sendable, Hashable {
    /// The type; `nil` for a line of text.
    package let type: ContentType?
    /// The beginning of the value. If the text to find is in it, it is the match.
    package let excerpt: Excerpt
    /// Whether the excerpt is the whole value.
    package let isWhole: Bool
    /// The path to the first such value; `nil` if it is too long, or for a line.
    package internal(set) var path: JSONPath?
    /// The number of the first such line, from 0; `nil` for other values.
    package let line: Int?
    /// The number of the first such value among all matches in the file, from 1.
    package let hit: Int
    /// The number of places.
    package internal(set) var count = 1
  }

  /// The values at places whose paths differ only in indices of arrays.
  package struct Group: Sendable, Hashable {
    /// The path in the syntax of jq, with `[*]` instead of indices; `nil` for the lines of a text.
    package let pattern: String?
    /// Whether ``pattern`` is complete.
    package let isPatternWhole: Bool
    /// The values that are listed, the rare ones first.
    package let values: [Value]
    /// The number of places of all values.
    package let count: Int
    /// The number of other values, and of their places. Values beyond a limit are not told apart, so that the first number
    /// is that of values that are known to differ.
    package let otherValues: Int
    package let otherCount: Int

    /// How rare the rarest value is among the others: the number of its places divided by that of the most common one.
    package let rarity: Double
  }

  /// The groups that are listed: first those in which one value is rarer than the others.
  package let groups: [Group]
  /// The number of places of all groups.
  package let count: Int
  /// The number of other groups, and of their places. Groups beyond a limit are not told apart.
  package let otherGroups: Int
  package let otherCount: Int

  /// Whether nothing was found.
  package var isEmpty: Bool { count == 0 }
  /// The ``Group/rarity`` of the first group; 1 if there is none.
  package var rarity: Double { groups.first?.rarity ?? 1 }
}

extension ContentFindings {
  /// A query that finds the places of a value, with the first one as its first hit, or only the first place; `nil` if there
  /// is none that is short enough.
  package static func query(of value: Value, in group: Group) -> String? {
    guard let pattern = group.pattern else { return nil }
    let condition: String? =
      switch value.type {
      case .string: ":" + JSONString.quoted(value.excerpt.text)
      case .number: ":=" + value.excerpt.text
      case .boolean, .null: ":" + value.excerpt.text
      case .object, .array, nil: nil
      }
    var queries: [String] = []
    // A condition does not tell 1 from 1.0.
    let isAlone = value.type != .number || !group.values.contains { $0.isNumber(equalTo: value) }
    if let condition, value.isWhole, group.isPatternWhole, isAlone { queries.append(pattern + condition) }
    if let path = value.path { queries.append(path.description) }
    return queries.first { text in
      guard text != "." else { return false }
      do { return try ContentQuery(text).place != .anywhere(nil) } catch { return false }
    }
  }
}

extension ContentFindings.Value {
  /// Whether this is a number that is written in another way than `other`, which is one, and has the same value.
  fileprivate func isNumber(equalTo other: Self) -> Bool {
    guard type == .number, excerpt.text != other.excerpt.text else { return false }
    return DecimalNumber(Array(excerpt.text.utf8)[...]) == DecimalNumber(Array(other.excerpt.text.utf8)[...])
  }
}
