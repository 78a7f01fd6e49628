package import Foundation
package import SnapshotFormat

/// `/`: the search, what came in day by day, and the newest snapshots or those that were found.
package struct HomePage: Sendable {
  /// What is looked for.
  package var search: SearchForm
  /// The snapshots, newest first.
  package var list: SnapshotList
  /// What came in, the oldest day first, without a gap; no chart without any.
  package var days: [ActivityDay]

  /// A page.
  package init(search: SearchForm = SearchForm(), list: SnapshotList, days: [ActivityDay] = []) {
    self.search = search
    self.list = list
    self.days = days
  }
}

/// A page of a list of snapshots.
package struct SnapshotList: Sendable {
  /// The most rows of a page.
  package static let pageLength = 50

  /// The rows, newest first: at most ``pageLength`` are shown.
  package var records: [SnapshotRecord]
  /// Where the list goes on, where it does.
  package var next: String?
  /// Whether there are pages before this one.
  package var isContinued: Bool
  /// How many there are in all, where that was counted.
  package var total: Int?
  /// Whether there are no more than ``total``.
  package var totalIsExact: Bool
  /// Why nothing can be listed at the moment, in a sentence.
  package var outage: String?

  /// A page of a list.
  package init(
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
package struct ActivityDay: Sendable, Hashable {
  /// The day's beginning, in UTC.
  package var day: Date
  /// How many snapshots were attached.
  package var count: Int
  /// How many bytes their bundles have.
  package var bytes: Int64

  /// A day.
  package init(day: Date, count: Int, bytes: Int64) {
    self.day = day
    self.count = count
    self.bytes = bytes
  }
}
