import Foundation

/// A regular expression of the app.
struct TextExpression: Sendable {
  private let expression: NSRegularExpression

  init(_ expression: NSRegularExpression) { self.expression = expression }

  /// Returns the matches in `text`, which is UTF-8, in no particular order; `nil` if the search takes too long.
  func matches(in text: [UInt8]) -> [Range<Int>]? {
    let string = String(decoding: text, as: UTF8.self)
    return results(in: string)?.compactMap { match -> Range<Int>? in
      let group =
        match.numberOfRanges > 1 && match.range(at: 1).length > 0 ? match.range(at: 1) : match.range
      guard group.length > 0, let range = Range(group, in: string) else { return nil }
      let start = string.utf8.distance(from: string.startIndex, to: range.lowerBound)
      return start..<start + string.utf8.distance(from: range.lowerBound, to: range.upperBound)
    }
  }

  /// The maximum number of reports of the progress of one search, besides one for each character. Each stands for some
  /// 10,000 steps.
  private static let patience = 1000

  private func results(in text: String) -> [NSTextCheckingResult]? {
    let all = NSRange(location: 0, length: text.utf16.count)
    guard Self.mayBacktrack(expression.pattern) else { return expression.matches(in: text, range: all) }
    var results: [NSTextCheckingResult] = []
    var left = all.length + Self.patience
    unsafe expression.enumerateMatches(in: text, options: .reportProgress, range: all) { result, _, stop in
      if let result { results.append(result) }
      left -= 1
      if left < 0 { unsafe stop.pointee = true }
    }
    return left < 0 ? nil : results
  }

  /// Whether a group of the pattern is repeated, so that the time can grow exponentially with the length of a text.
  /// Watching the progress takes several times as long as a search without.
  private static func mayBacktrack(_ pattern: String) -> Bool {
    zip(pattern, pattern.dropFirst()).contains { $0 == ")" && "*+{".contains($1) }
  }
}
