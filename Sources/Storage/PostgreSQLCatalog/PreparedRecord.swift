import SnapshotFormat
import SnapshotStore

/// The column values of a record.
struct PreparedRecord: Sendable {
  let id: [UInt8]
  /// Milliseconds since 1970.
  let received: Int64
  let report: String
  let version: [UInt8]
  let isPending: Bool
  let revision: Int64
  /// Names the bytes of the bundle; empty if the record does not.
  let attempt: [UInt8]
  /// The size of the bundle in bytes.
  let size: Int64
  /// An upper bound for the size of the record as JSON in a list, in bytes.
  let length: Int
  let record: [UInt8]
  /// The terms of the identifiers, separated by spaces; `nil` if the identifiers are not known.
  let identifiers: String?

  init(_ record: SnapshotRecord) {
    id = Array(record.id.bytes)
    received = Cursor(after: record).receivedAt
    report = record.report.description
    version = VersionKey(record.application.version).bytes
    isPending = record.verified == .pending
    revision = record.revision ?? 0
    attempt = record.attempt.map { Array($0.bytes) } ?? []
    size = record.size
    length = record.listedLength
    self.record = Array(RecordCoder.encode(record))
    identifiers = record.identifierTerms?.text
  }
}

/// The terms of a record that the index contains: those of its description and its identifiers, the beginnings of its
/// words, and a term that all records have.
enum IndexedTerms {
  /// The term of all records. No other term is equal to it.
  static let all = "|"

  /// The term of the beginning of a word. The terms of properties have a letter after the bar.
  static func beginning(_ letters: some StringProtocol, length: Int) -> String { "|\(length)\(letters)" }

  /// The terms of the beginnings of a word; none if `term` is that of a property.
  static func beginnings(of term: String) -> [String] {
    guard term.utf8.first != UInt8(ascii: "|") else { return [] }
    let scalars = term.unicodeScalars
    return IndexLimits.prefixLengths.compactMap { length in
      scalars.index(scalars.startIndex, offsetBy: length, limitedBy: scalars.endIndex)
        .map { beginning(term[..<$0], length: length) }
    }
  }

  /// Returns the distinct terms of an encoded record.
  static func of(record: [UInt8], identifiers: String) throws -> Set<String> {
    var terms: Set<String> = [all]
    let words = identifiers.utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
    for term in try RecordCoder.decode(record).descriptionTerms.terms + words
    where terms.insert(term).inserted {
      terms.formUnion(beginnings(of: term))
    }
    return terms
  }
}
