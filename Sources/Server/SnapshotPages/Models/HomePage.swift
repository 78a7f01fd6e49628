public import Foundation
public import SnapshotFormat

/// `/`: the search, what came in day by day, and the newest snapshots or those that were found.
public struct HomePage: Sendable {
  /// What is looked for.
  public var search: SearchForm
  /// The snapshots, newest first.
  public var list: SnapshotList
  /// What came in, the oldest day first, without a gap; no chart without any.
  public var days: [ActivityDay]

  /// A page.
  public init(search: SearchForm = SearchForm(), list: SnapshotList, days: [ActivityDay] = []) {
    self.search = search
    self.list = list
    self.days = days
  }
}

/// A page of a list of snapshots.
public struct SnapshotList: Sendable {
  /// The most rows of a page.
  public static let pageLength = 50

  /// The rows, newest first: at most ``pageLength`` are shown.
  public var records: [SnapshotRecord]
  /// Where the list goes on, where it does.
  public var next: String?
  /// Whether there are pages before this one.
  public var isContinued: Bool
  /// How many there are in all, where that was counted.
  public var total: Int?
  /// Whether there are no more than ``total``.
  public var totalIsExact: Bool
  /// Why nothing can be listed at the moment, in a sentence.
  public var outage: String?

  /// A page of a list.
  public init(
    _ records: [SnapshotRecord], next: String? = nil, isContinued: Bool = false, total: Int? = nil,
    totalIsExact: Bool = true, outage: String? = nil
  ) {
    self.records = records
    self.next = next
    self.isContinued = isContinued
    self.total = total
    self.totalIsExact = totalIsExact
    self.outage = outage
  }
}

/// What came in on one day.
public struct ActivityDay: Sendable, Hashable {
  /// The day's beginning, in UTC.
  public var day: Date
  /// How many snapshots were attached.
  public var count: Int
  /// How many bytes their bundles have.
  public var bytes: Int64

  /// A day.
  public init(day: Date, count: Int, bytes: Int64) {
    self.day = day
    self.count = count
    self.bytes = bytes
  }
}
