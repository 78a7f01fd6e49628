package import Foundation
package import SnapshotFormat

/// The page `/`: the search form, a chart of the received snapshots per day, and the newest snapshots or the search
/// results.
package struct HomePage: Sendable {
  /// The search.
  package var search: SearchForm
  /// The snapshots, newest first.
  package var list: SnapshotList
  /// The received snapshots per day, oldest day first, without gaps. If it is empty, there is no chart.
  package var days: [ActivityDay]

  /// Creates a page.
  package init(search: SearchForm = SearchForm(), list: SnapshotList, days: [ActivityDay] = []) {
    self.search = search
    self.list = list
    self.days = days
  }
}

/// A page of a list of snapshots.
package struct SnapshotList: Sendable {
  /// The maximum number of rows of a page.
  package static let pageLength = 50
  /// The maximum number of rows of a page of a search for text. They show why they were found, and are therefore larger.
  package static let searchLength = 25

  /// The rows, newest first. At most ``pageLength`` are shown, or ``searchLength`` of a search for text. With
  /// ``SnapshotFormat/SnapshotRecord/identifiers``, a row shows how many modules are complete.
  package var records: [SnapshotRecord]
  /// The text that was searched for, if there is one.
  package var text: String?
  /// The cursor of the next page, if there is one.
  package var next: String?
  /// Whether there is a previous page.
  package var isContinued: Bool
  /// The total number of snapshots, if it was counted.
  package var total: Int?
  /// Whether ``total`` is exact, not a lower bound.
  package var totalIsExact: Bool
  /// A sentence about why the list is not available at the moment.
  package var outage: String?

  /// Creates a page of a list.
  package init(
    _ records: [SnapshotRecord], text: String? = nil, next: String? = nil, isContinued: Bool = false,
    total: Int? = nil,
    totalIsExact: Bool = true, outage: String? = nil
  ) {
    self.records = records
    self.text = text
    self.next = next
    self.isContinued = isContinued
    self.total = total
    self.totalIsExact = totalIsExact
    self.outage = outage
  }
}

/// The snapshots received on one day.
package struct ActivityDay: Sendable, Hashable {
  /// The start of the day, in UTC.
  package var day: Date
  /// The number of attached snapshots.
  package var count: Int
  /// The total size of their bundles, in bytes.
  package var bytes: Int64

  /// Creates a day from its parts.
  package init(day: Date, count: Int, bytes: Int64) {
    self.day = day
    self.count = count
    self.bytes = bytes
  }
}
