import Foundation
import SnapshotFormat

/// The page `/`: the search form, a chart of the received snapshots per day, and the newest snapshots or the search
/// results.
struct HomePage: Sendable {
  /// The search.
  var search: SearchForm = SearchForm()
  /// The snapshots, newest first.
  var list: SnapshotList
  /// The received snapshots per day, oldest day first, without gaps. If it is empty, there is no chart.
  var days: [ActivityDay] = []
  /// Whether the visitor may delete snapshots.
  var mayDelete = false
  /// Whether the page links to the one about webhooks.
  var showsWebhooks = false
}

/// A page of a list of snapshots.
struct SnapshotList: Sendable {
  /// The maximum number of rows of a page.
  static let pageLength = 50
  /// The maximum number of rows of a page of a search for text. They show why they were found, and are therefore larger.
  static let searchLength = 25

  /// The rows, newest first. At most ``pageLength`` are shown, or ``searchLength`` of a search for text. With
  /// ``SnapshotFormat/SnapshotRecord/identifiers``, a row shows how many modules are complete.
  var records: [SnapshotRecord]
  /// The text that was searched for, if there is one.
  var text: String?
  /// The cursor of the next page, if there is one.
  var next: String?
  /// Whether there is a previous page.
  var isContinued: Bool
  /// The total number of snapshots, if it was counted.
  var total: Int?
  /// Whether ``total`` is exact, not a lower bound.
  var totalIsExact: Bool
  /// A sentence about why the list is not available at the moment.
  var outage: String?

  /// Creates a page of a list.
  init(
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
struct ActivityDay: Sendable, Hashable {
  /// The start of the day, in UTC.
  var day: Date
  /// The number of attached snapshots.
  var count: Int
  /// The total size of their bundles, in bytes.
  var bytes: Int64
}
