import Foundation
import JSONText
import SnapshotClient
import SnapshotFormat

/// What an argument names a snapshot by: a UUID or an address, the beginning of a UUID, or a report, whose newest
/// snapshot is meant.
///
/// A text such as `123456` can be the beginning of a UUID and a report.
struct SnapshotName {
  /// The fewest digits of a beginning. Six distinguish the snapshots of most servers.
  static let fewestDigits = 6
  /// The most snapshots that are named if a beginning is ambiguous.
  static let namedCandidates = 5
  /// The most search results among which the UUIDs with a beginning are found.
  static let searchedResults = 1000

  /// The argument.
  let text: String
  /// The snapshot, if the text contains a whole UUID.
  let reference: SnapshotReference?
  /// The beginning of a UUID in lower case, with hyphens.
  let beginning: String?
  /// The report. Its id has a digit, so that it is not confused with the name of a file or a mistyped word.
  let report: ReportID?

  /// Returns one page of the snapshots that match a filter, newest first, and whether there are more.
  typealias Search = (SnapshotFilter, _ limit: Int) async throws -> (records: [SnapshotRecord], hasMore: Bool)

  /// Throws if `text` can't be a name.
  init(_ text: String) throws(CommandFailure) {
    self.text = text
    do {
      reference = try SnapshotReference(text)
      (beginning, report) = (nil, nil)
    } catch {
      reference = nil
      beginning = Self.beginning(text)
      report = text.utf8.contains { (0x30...0x39).contains($0) } ? ReportID(text) : nil
      guard beginning != nil || report != nil else {
        throw CommandFailure(error.description, status: .refused)
      }
    }
  }

  /// Finds the snapshot. Throws if there is none, or more than one.
  /// - Parameter acceptsReports: whether the id of a report stands for its newest snapshot.
  func find(acceptsReports: Bool = true, by search: Search) async throws -> SnapshotID {
    if let reference { return reference.id }
    let candidates = try await candidates(by: search)
    var newest: SnapshotRecord?
    if let report, acceptsReports {
      do {
        newest = try await search(SnapshotFilter(report: report), 1).records.first
      } catch let error as SnapshotClientError where [.notFound, .forbidden].contains(error.code) {}
    }
    if let report, let newest {
      guard candidates.isEmpty else {
        throw CommandFailure(
          """
          ‘\(text)’ is a report and the beginning of the UUID \(candidates[0].id). Pass more digits of the UUID, or that of \
          the report's newest snapshot, \(newest.id).
          """, status: .refused)
      }
      Console.message(
        "The newest snapshot of \(report) is \(newest.id), \(SnapshotJSON.text(of: newest.receivedAt)).")
      return newest.id
    }
    guard let first = candidates.first else { throw nothing }
    guard candidates.count == 1 else { throw ambiguity(candidates) }
    return first.id
  }

  private func candidates(by search: Search) async throws -> [SnapshotRecord] {
    guard let beginning else { return [] }
    var filter = SnapshotFilter()
    filter.text = beginning
    // The search also finds the digits elsewhere.
    let (results, hasMore) = try await search(filter, Self.searchedResults)
    let candidates = results.filter { $0.id.description.hasPrefix(beginning) }
    guard !hasMore || candidates.count > 1 else {
      throw CommandFailure(
        "More than \(results.count) snapshots contain ‘\(text)’. Pass more digits of the UUID.",
        status: .refused)
    }
    return candidates
  }

  private var nothing: CommandFailure {
    let parts = [
      beginning.map { "with a UUID that begins with \($0)" }, report.map { "of a report \($0)" },
    ]
    return CommandFailure(
      "There is no snapshot \(parts.compactMap { $0 }.joined(separator: ", and none ")). `snapshot list` shows all."
    )
  }

  private func ambiguity(_ candidates: [SnapshotRecord]) -> CommandFailure {
    let named = candidates.prefix(Self.namedCandidates).map { "\($0.id) (\($0.report))" }
    let rest = candidates.count - named.count
    return CommandFailure(
      """
      \(candidates.count) UUIDs begin with \(text): \(named.joined(separator: ", "))\
      \(rest > 0 ? " and \(rest) more" : ""). Pass more digits.
      """, status: .refused)
  }

  /// Returns the digits in `text` with the hyphens of a UUID; `nil` if a UUID can't begin so.
  private static func beginning(_ text: String) -> String? {
    let hyphens: Set = [8, 13, 18, 23]
    var beginning = ""
    for character in text.lowercased() {
      if character == "-" {
        guard hyphens.contains(beginning.count) else { return nil }
        beginning.append(character)
        continue
      }
      guard let byte = character.asciiValue, Hexadecimal.value(byte) != nil else { return nil }
      if hyphens.contains(beginning.count) { beginning.append("-") }
      beginning.append(character)
    }
    let digits = beginning.filter { $0 != "-" }.count
    return digits >= fewestDigits && digits < 32 ? beginning : nil
  }
}

extension SnapshotAPIClient {
  /// Searches for snapshots on the server, to find one by its name.
  func search(
    _ filter: SnapshotFilter, limit: Int
  ) async throws(SnapshotClientError) -> (records: [SnapshotRecord], hasMore: Bool) {
    let page = try await page(filter, limit: limit)
    return (page.records, page.next != nil)
  }
}
