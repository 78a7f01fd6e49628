import Foundation

/// A search in text.
enum TextRule: Sendable {
  case expression(NSRegularExpression)
  case scan(@Sendable ([UInt8]) -> [Range<Int>])

  /// Whether it is a regular expression of the app, which also applies to whole texts.
  var isExpression: Bool { if case .expression = self { true } else { false } }

  /// Returns the matches in `text`, which is UTF-8, in no particular order.
  func matches(in text: [UInt8]) -> [Range<Int>] {
    switch self {
    case .scan(let scan): return scan(text)
    case .expression(let expression):
      let string = String(decoding: text, as: UTF8.self)
      let all = NSRange(location: 0, length: string.utf16.count)
      let ranges = expression.matches(in: string, range: all).compactMap { match -> Range<Int>? in
        let group =
          match.numberOfRanges > 1 && match.range(at: 1).length > 0 ? match.range(at: 1) : match.range
        guard group.length > 0, let range = Range(group, in: string) else { return nil }
        let start = string.utf8.distance(from: string.startIndex, to: range.lowerBound)
        return start..<start + string.utf8.distance(from: range.lowerBound, to: range.upperBound)
      }
      return ranges
    }
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
