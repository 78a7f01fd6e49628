public import Foundation

/// The numbers of received snapshots and bytes per day, for the records that match a query.
public struct CatalogActivity: Sendable, Hashable {
  /// The counts of a day in UTC.
  public struct Day: Sendable, Hashable {
    /// The day, counted from 1 January 1970.
    public var number: Int
    /// The number of snapshots received.
    public var count: Int
    /// The size of their bundles in bytes.
    public var bytes: Int64

    /// Creates the counts of a day.
    public init(number: Int, count: Int, bytes: Int64) {
      (self.number, self.count, self.bytes) = (number, count, bytes)
    }
  }

  /// The maximum number of days. A longer range is limited to its last days.
  public static let maximumDays = 366
  /// The maximum number of records that are read to count them, newest first.
  public static let maximumVisits = 10_000

  /// The days with at least one snapshot, oldest first.
  public var days: [Day]
  /// The first day of the complete counts. It is later than the first day of the request if there were too many records
  /// to count.
  public var firstDay: Int

  /// Creates an activity from the days with at least one snapshot, oldest first, and the first day that was counted
  /// completely.
  public init(days: [Day], firstDay: Int) { (self.days, self.firstDay) = (days, firstDay) }

  /// Returns the day of `time`.
  public static func day(of time: Date) -> Int { day(ofMillisecond: Cursor.milliseconds(time)) }

  /// Returns the day of a time in milliseconds since 1970.
  package static func day(ofMillisecond millisecond: Int64) -> Int {
    let (days, rest) = millisecond.quotientAndRemainder(dividingBy: 86_400_000)
    return Int(days) - (rest < 0 ? 1 : 0)
  }

  /// Returns the last days of `days`, at most ``maximumDays``.
  package static func limited(_ days: ClosedRange<Int>) -> ClosedRange<Int> {
    max(days.lowerBound, days.upperBound - min(maximumDays - 1, days.count - 1))...days.upperBound
  }
}

/// Counts records that are visited newest first. Every catalogue uses it.
package struct ActivityCounter {
  private let days: ClosedRange<Int>
  private let limit: Int
  private var visits = 0
  private var found: [CatalogActivity.Day] = []
  private var firstDay: Int
  /// Whether counting is complete, so that no more records need to be visited.
  package private(set) var isDone = false

  /// Creates a counter for `days` that counts at most `limit` records.
  package init(_ days: ClosedRange<Int>, limit: Int = CatalogActivity.maximumVisits) {
    self.days = days
    self.limit = limit
    firstDay = days.lowerBound
  }

  /// Counts a record of `size` bytes, received at `millisecond` since 1970.
  package mutating func add(receivedAt millisecond: Int64, size: Int64) {
    let day = CatalogActivity.day(ofMillisecond: millisecond)
    guard day >= days.lowerBound else { return isDone = true }
    visits += 1
    guard visits <= limit else {
      isDone = true
      // This day was counted only in part, so it is omitted.
      firstDay = day + 1
      found.removeAll { $0.number <= day }
      return
    }
    guard day <= days.upperBound else { return }
    if found.last?.number == day {
      found[found.count - 1].count += 1
      found[found.count - 1].bytes += size
    } else {
      found.append(CatalogActivity.Day(number: day, count: 1, bytes: size))
    }
  }

  /// The counts.
  package var activity: CatalogActivity { CatalogActivity(days: found.reversed(), firstDay: firstDay) }
}
