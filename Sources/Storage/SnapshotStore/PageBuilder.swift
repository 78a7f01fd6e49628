package import Foundation
package import SnapshotFormat

/// Fills a page up to its limits. Every catalogue uses it.
package struct PageBuilder {
  /// The maximum number of bytes that the API adds to a record: the path of its bundle.
  private static let addedLength = 100

  private let limit: Int
  private var bytes = 0
  private var records: [SnapshotRecord] = []
  private var hasMore = false

  /// Creates an empty page for `request`.
  package init(_ request: PageRequest) { limit = min(max(request.limit, 1), PageRequest.maximumLimit) }

  /// Whether the page is complete and at least one more record follows.
  package var isFull: Bool { hasMore }

  /// Appends the next record, if it fits.
  /// - Parameters:
  ///   - length: the length of the record's ``SnapshotFormat/SnapshotRecord/row()``.
  ///   - record: returns the record. Called only if the record fits.
  package mutating func append(length: Int, _ record: () throws -> SnapshotRecord) rethrows {
    guard !hasMore else { return }
    let length = length + Self.addedLength
    guard records.count < limit, records.isEmpty || bytes + length <= PageRequest.maximumBytes else {
      hasMore = true
      return
    }
    bytes += length
    records.append(try record())
  }

  /// The page.
  package var page: Page { Page(records: records, next: hasMore ? records.last.map(Cursor.init) : nil) }
}

extension SnapshotRecord {
  /// The record as lists contain it: without its comments, and without what only stores and catalogues need.
  package var listed: SnapshotRecord {
    var listed = self
    (listed.identifiers, listed.comments, listed.revision, listed.attempt) = (nil, nil, nil, nil)
    return listed
  }

  /// The bytes of a catalogue's row: ``listed`` as JSON.
  package func row() throws -> Data { try SnapshotJSON.encode(listed) }

  /// Decodes ``row()``.
  package init(row: some Sequence<UInt8>) throws {
    self = try SnapshotJSON.decode(Self.self, from: Data(row))
  }
}
