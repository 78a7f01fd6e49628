/// Finds the recorded identifiers that are most similar to one that is not recorded, as hints for misspelled
/// identifiers.
package enum NearestIdentifiers {
  /// The maximum number of results.
  static let most = 3
  /// The limits of the work: the maximum number of candidates, and the number of bytes compared of each.
  static let mostCandidates = 5_000
  static let longest = 200

  /// Returns the identifiers in `recorded` with the smallest edit distance to `identifier`, nearest first. The distance
  /// counts insertions, removals and replacements of single bytes, ignoring ASCII case. It is at most a quarter of the
  /// length, but never less than 2 or more than 8.
  package static func find(_ identifier: String, among recorded: [String]) -> [String] {
    let wanted = Array(identifier.utf8.prefix(longest))
    let limit = max(2, min(8, wanted.count / 4))
    return recorded.prefix(mostCandidates).compactMap { candidate -> (name: String, distance: Int)? in
      let found = distance(wanted, Array(candidate.utf8.prefix(longest)), upTo: limit)
      return found.map { (candidate, $0) }
    }
    .sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }
    .prefix(most).map(\.name)
  }

  /// Returns the Levenshtein distance, or `nil` if it exceeds `limit`. Computes only cells within `limit` of the
  /// diagonal.
  static func distance(_ first: [UInt8], _ second: [UInt8], upTo limit: Int) -> Int? {
    guard abs(first.count - second.count) <= limit else { return nil }
    guard !second.isEmpty else { return first.count }
    let far = limit + 1
    var row = (0...second.count).map { min($0, far) }
    for (index, byte) in first.enumerated() {
      let columns = max(0, index - limit)...min(second.count - 1, index + limit + 1)
      var diagonal = row[columns.lowerBound]
      var least = far
      row[columns.lowerBound] = columns.lowerBound == 0 ? min(index + 1, far) : far
      if columns.lowerBound == 0 { least = row[0] }
      for column in columns {
        let above = row[column + 1]
        let cost = folded(byte) == folded(second[column]) ? 0 : 1
        let value = min(diagonal + cost, above + 1, row[column] + 1, far)
        row[column + 1] = value
        diagonal = above
        least = min(least, value)
      }
      if least > limit { return nil }
    }
    return row[second.count] <= limit ? row[second.count] : nil
  }

  private static func folded(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
