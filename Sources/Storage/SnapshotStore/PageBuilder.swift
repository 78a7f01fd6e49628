package import SnapshotFormat

/// Fills a page within its limits, the same for every catalogue.
package struct PageBuilder {
  private let limit: Int
  private var bytes = 0
  private var records: [SnapshotRecord] = []
  private var hasMore = false

  /// An empty page for `request`.
  package init(_ request: PageRequest) { limit = min(max(request.limit, 1), PageRequest.maximumLimit) }

  /// Whether the page takes nothing more, and knows that something follows.
  package var isFull: Bool { hasMore }

  /// Puts the next record on the page, if there is room.
  /// - Parameters:
  ///   - length: what ``SnapshotFormat/SnapshotRecord/listedLength`` says of it.
  ///   - record: made only where there is room.
  package mutating func append<Failure: Error>(
    length: Int, _ record: () throws(Failure) -> SnapshotRecord
  ) throws(Failure) {
    guard !hasMore else { return }
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
  /// At least as many bytes as it has as JSON in a list.
  package var listedLength: Int {
    var length = 1000
    for text in [
      report.description, application.identifier, application.version, application.build, device.model,
      device.system, device.systemVersion, device.locale,
    ] { length += Self.length(text) }
    for module in modules {
      length += Self.length(module.name) + 24
      for file in module.files { length += Self.length(file) + 1 }
    }
    for (name, value) in metadata { length += Self.length(name) + Self.length(value) + 2 }
    return length
  }

  /// As a JSON string: what is no character to print takes six bytes at most, quotes and backslashes two.
  private static func length(_ text: String) -> Int {
    var length = 2
    for byte in text.utf8 {
      switch byte {
      case 0..<0x20: length += 6
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): length += 2
      // U+2028 and U+2029 may be written with six bytes for three.
      case 0xE2: length += 4
      default: length += 1
      }
    }
    return length
  }
}
