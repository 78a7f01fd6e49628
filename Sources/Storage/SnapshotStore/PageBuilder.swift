package import SnapshotFormat

/// Fills a page up to its limits. Every catalogue uses it.
package struct PageBuilder {
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
  ///   - length: the record's ``SnapshotFormat/SnapshotRecord/listedLength``.
  ///   - record: returns the record. Called only if the record fits.
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
  /// An upper bound for the size of the record as JSON in a list, in bytes.
  package var listedLength: Int {
    var length = manifestID == nil ? 1000 : 1060
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

  /// The maximum size as a JSON string: six bytes for a control character, two for a quotation mark or a backslash.
  private static func length(_ text: String) -> Int {
    var length = 2
    for byte in text.utf8 {
      switch byte {
      case 0..<0x20: length += 6
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): length += 2
      // U+2028 and U+2029, three bytes in UTF-8, can be written as escapes of six bytes.
      case 0xE2: length += 4
      default: length += 1
      }
    }
    return length
  }
}
