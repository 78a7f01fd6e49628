import HTTPSemantics
import HTTPClient

extension FuzzedParser {
  /// Every range is non-empty and in the file, and no two overlap. A client parses each range from the `Content-Range`
  /// of its response.
  ///
  /// The first line of `input` is the size, the rest is the field.
  func checkRanges(_ input: [UInt8]) throws {
    let lines = input.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    let size = max(0, Int64(String(decoding: lines[0], as: UTF8.self)) ?? 1000)
    let field = String(decoding: lines.count > 1 ? lines[1] : lines[0], as: UTF8.self)
    _ = ContentRange(field)
    switch ByteRanges(field, size: size) {
    case .whole: break
    case .unsatisfiable:
      // Only if every range begins after the end of the file.
      try require(field.contains("-"), "‘\(field)’ has no range")
    case .some(let ranges):
      try require((1...ByteRanges.maximumCount).contains(ranges.count), "\(ranges.count) ranges")
      let sorted = ranges.sorted { $0.lowerBound < $1.lowerBound }
      try require(
        zip(sorted, sorted.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound }, "\(ranges) overlap")
      for range in ranges {
        let isInside = range.lowerBound >= 0 && range.upperBound <= size
        try require(isInside && !range.isEmpty, "\(range) of \(size)")
        let answer = ContentRange("bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)")
        try require(
          answer?.first == range.lowerBound && answer?.last == range.upperBound - 1
            && answer?.complete == size, "\(range) of \(size) is read as \(answer as Any)")
      }
      let again = ranges.map { "\($0.lowerBound)-\($0.upperBound - 1)" }.joined(separator: ",")
      try require(
        ByteRanges("bytes=\(again)", size: size) == .some(ranges), "\(ranges) is parsed to other ranges")
    }
    for size in [Int64(0), 1, 10, .max] { _ = ByteRanges(field, size: size) }
  }
}
