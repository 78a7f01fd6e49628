public import Foundation

/// How much arrived, day by day, of the records that a query finds.
public struct CatalogActivity: Sendable, Hashable {
  /// One day, in UTC.
  public struct Day: Sendable, Hashable {
    /// The day, counted from 1 January 1970.
    public var number: Int
    /// How many snapshots arrived.
    public var count: Int
    /// How many bytes their bundles have.
    public var bytes: Int64

    /// A day.
    public init(number: Int, count: Int, bytes: Int64) {
      (self.number, self.count, self.bytes) = (number, count, bytes)
    }
  }

  /// The most days that are told of: of more, the last ones.
  public static let maximumDays = 366
  /// How many records are looked at where there is something to look for, the newest first.
  public static let maximumVisits = 10_000

  /// The days on which anything arrived, the oldest first.
  public var days: [Day]
  /// From which day on all is counted: a later one than was asked for where there was too much to look at.
  public var firstDay: Int

  /// Days on which anything arrived, the oldest first, and from when on they are all of them.
  public init(days: [Day], firstDay: Int) { (self.days, self.firstDay) = (days, firstDay) }

  /// The day of `time`.
  public static func day(of time: Date) -> Int { day(ofMillisecond: Cursor.milliseconds(time)) }

  /// The day of a time in milliseconds since 1970.
  package static func day(ofMillisecond millisecond: Int64) -> Int {
    let (days, rest) = millisecond.quotientAndRemainder(dividingBy: 86_400_000)
    return Int(days) - (rest < 0 ? 1 : 0)
  }

  /// The last of `days`, as many as may be.
  package static func limited(_ days: ClosedRange<Int>) -> ClosedRange<Int> {
    max(days.lowerBound, days.upperBound - min(maximumDays - 1, days.count - 1))...days.upperBound
  }
}

/// Counts records that are visited newest first, the same for every catalogue.
package struct ActivityCounter {
  private let days: ClosedRange<Int>
  private let limit: Int
  private var visits = 0
  private var found: [CatalogActivity.Day] = []
  private var firstDay: Int
  /// Whether nothing further is to be visited.
  package private(set) var isDone = false

  /// Counts nothing yet of `days`, and at most `limit` records.
  package init(_ days: ClosedRange<Int>, limit: Int = CatalogActivity.maximumVisits) {
    self.days = days
    self.limit = limit
    firstDay = days.lowerBound
  }

  /// Counts a record of `size` bytes, received at that millisecond since 1970.
  package mutating func add(receivedAt millisecond: Int64, size: Int64) {
    let day = CatalogActivity.day(ofMillisecond: millisecond)
    guard day >= days.lowerBound else { return isDone = true }
    visits += 1
    guard visits <= limit else {
      isDone = true
      // Not all of this day was counted, so none of it is told.
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

  /// What was counted.
  package var activity: CatalogActivity { CatalogActivity(days: found.reversed(), firstDay: firstDay) }
}
