import Foundation
import Synchronization

/// Times as they stand in the log: RFC 3339, UTC, with milliseconds.
///
/// Every request has its line, so all but the milliseconds is written once a second.
enum LogTime {
  private static let latest = Mutex((second: Int.min, text: ""))

  static func text(of date: Date) -> String {
    let (second, millisecond) = floorDivided(
      Int((date.timeIntervalSince1970 * 1000).rounded()), by: 1000)
    let wholeSeconds = latest.withLock { latest in
      if latest.second != second {
        let text = Date(timeIntervalSince1970: Double(second)).formatted(.iso8601)
        latest = (second, String(text.dropLast()))
      }
      return latest.text
    }
    return "\(wholeSeconds).\(String(1000 + millisecond).dropFirst())Z"
  }

  private static func floorDivided(_ number: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
