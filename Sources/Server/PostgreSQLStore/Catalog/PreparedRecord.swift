import Foundation
import SnapshotFormat
import SnapshotStore

/// The column values of a record.
struct PreparedRecord: Sendable {
  let id: [UInt8]
  /// Milliseconds since 1970.
  let received: Int64
  let report: String
  /// The composed form (Unicode NFC) of the application's identifier, in UTF-8.
  let application: [UInt8]
  let version: [UInt8]
  /// The id of the manifest; empty if there is none.
  let manifest: [UInt8]
  let isPending: Bool
  let revision: Int64
  /// Names the bytes of the bundle; empty if the record does not.
  let attempt: [UInt8]
  /// The size of the bundle in bytes.
  let size: Int64
  /// The record's ``SnapshotFormat/SnapshotRecord/row()``.
  let document: [UInt8]
  /// The number of the first ``terms`` that are those of the identifiers; `nil` if the identifiers are not known.
  let identifierTerms: Int?
  /// The terms, those of the identifiers first.
  let terms: [String]

  init(_ record: SnapshotRecord) throws {
    id = Array(record.id.bytes)
    received = Cursor(after: record).receivedAt
    report = record.report.description
    application = Self.composed(record.application.identifier)
    version = VersionKey(record.application.version).bytes
    manifest = record.manifestID.map { Array($0.bytes) } ?? []
    isPending = record.verified == .pending
    revision = record.revision ?? 0
    attempt = record.attempt.map { Array($0.bytes) } ?? []
    size = record.size
    document = Array(try record.row())
    let identifiers = record.identifierTerms.map(IndexedTerms.of)
    identifierTerms = identifiers?.count
    // A term that is in both is repeated, so that the terms stay equal if the identifiers become known.
    terms = (identifiers ?? []) + IndexedTerms.of(record.descriptionTerms)
  }

  /// The words that the beginning of a word is looked up in.
  var words: some Sequence<String> { terms.lazy.filter(IndexedTerms.isLookedUp) }

  /// Returns the value by which canonically equivalent identifiers of applications are equal.
  static func composed(_ application: String) -> [UInt8] {
    Array(application.precomposedStringWithCanonicalMapping.utf8)
  }
}

/// The terms of a record that the index contains: those of its description and its identifiers, except the UUIDs and
/// the versions, which have columns, and the beginnings of its words.
enum IndexedTerms {
  private static let uuid = SearchTerm.of(.uuid, "")
  /// The properties that have columns.
  private static let columns = [uuid, SearchTerm.of(.version, ""), SearchTerm.of(.wholeVersion, "")]

  /// Returns the distinct terms of a list, and the beginnings of those that are words.
  static func of(_ list: TermList) -> [String] {
    var terms: [String] = []
    var known: Set<String> = []
    for term in list.terms where !columns.contains(where: { term.utf8.starts(with: $0.utf8) }) {
      terms.append(term)
      guard isWord(term) else { continue }
      for length in IndexLimits.prefixLengths {
        guard let beginning = beginning(of: term, length: length) else { break }
        if known.insert(beginning).inserted { terms.append(beginning) }
      }
    }
    return terms
  }

  /// Returns the term of the first `length` characters of a word; `nil` if it has fewer. The terms of properties have a
  /// letter after the bar.
  static func beginning(of word: String, length: Int) -> String? {
    let scalars = word.unicodeScalars
    return scalars.index(scalars.startIndex, offsetBy: length, limitedBy: scalars.endIndex)
      .map { "|\(length)\(word[..<$0])" }
  }

  /// Whether the term is a word whose longer beginnings are looked up among all words.
  static func isLookedUp(_ term: String) -> Bool {
    term.utf8.count > IndexLimits.prefixLengths.upperBound && isWord(term)
  }

  /// Returns the digits of the beginning of a UUID; `nil` if the term is another one.
  static func digits(_ term: String) -> Substring? {
    term.utf8.starts(with: uuid.utf8) ? term.dropFirst(uuid.count) : nil
  }

  private static func isWord(_ term: String) -> Bool { term.utf8.first != UInt8(ascii: "|") }
}
