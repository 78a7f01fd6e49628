import Foundation
import SystemIO

/// Times as they stand in the log: RFC 3339, UTC, with milliseconds.
enum LogTime {
  static func text(of date: Date) -> String {
    UTCTime(secondsSince1970: date.timeIntervalSince1970).description
  }
}
