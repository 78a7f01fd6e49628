import Foundation

/// A search in text.
enum TextRule: Sendable {
  case expression(NSRegularExpression)
  case scan(@Sendable ([UInt8]) -> [Range<Int>])

  /// Whether it is a regular expression of the app, which also applies to whole texts.
  var isExpression: Bool { if case .expression = self { true } else { false } }

  /// Returns the matches in `text`, which is UTF-8, in no particular order; `nil` if a regular expression takes too long.
  func matches(in text: [UInt8]) -> [Range<Int>]? {
    switch self {
    case .scan(let scan): return scan(text)
    case .expression(let expression):
      let string = String(decoding: text, as: UTF8.self)
      return Self.results(of: expression, in: string)?.compactMap { match -> Range<Int>? in
        let group =
          match.numberOfRanges > 1 && match.range(at: 1).length > 0 ? match.range(at: 1) : match.range
        guard group.length > 0, let range = Range(group, in: string) else { return nil }
        let start = string.utf8.distance(from: string.startIndex, to: range.lowerBound)
        return start..<start + string.utf8.distance(from: range.lowerBound, to: range.upperBound)
      }
    }
  }

  /// The maximum number of reports of the progress of one search, besides one for each character. Each stands for some
  /// 10,000 steps.
  private static let patience = 1000

  private static func results(
    of expression: NSRegularExpression, in text: String
  ) -> [NSTextCheckingResult]? {
    let all = NSRange(location: 0, length: text.utf16.count)
    guard mayBacktrack(expression.pattern) else { return expression.matches(in: text, range: all) }
    var results: [NSTextCheckingResult] = []
    var left = all.length + patience
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

  /// The ranges in order; those that overlap become one.
  static func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
    var merged: [Range<Int>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      if let last = merged.last, range.lowerBound < last.upperBound {
        merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    return merged
  }
}
