public import Foundation
public import SnapshotFormat

/// Decides what goes: records in, in any order, a list of ids and reasons out. Reads and changes nothing.
///
/// Holds less than a hundred bytes for each snapshot that a limit on numbers or on room may concern, and for each
/// that goes; nothing for all others.
public struct RetentionPlanner: Sendable {
  /// What is remembered of a snapshot until all are known.
  private struct Candidate {
    let id: SnapshotID
    let receivedAt: Date
    let size: Int64
    /// The first half of the digest of its report's name, where reports are counted.
    let report: UInt64
    let reportRest: UInt64
    let group: Int

    static func isOlder(_ left: Self, _ right: Self) -> Bool {
      (left.receivedAt, left.id) < (right.receivedAt, right.id)
    }

    func isOfSameReport(as other: Self) -> Bool {
      group == other.group && report == other.report && reportRest == other.reportRest
    }

    /// Report by report, and each from its newest on.
    static func comesBefore(_ left: Self, _ right: Self) -> Bool {
      left.isOfSameReport(as: right)
        ? isOlder(right, left)
        : (left.group, left.report, left.reportRest) < (right.group, right.report, right.reportRest)
    }
  }

  /// The snapshots that are under the same limits: all, or those of one application.
  private struct Group {
    let application: String?
    let limits: RetentionRules.Limits
    var total: Int64 = 0

    var isTooLarge: Bool { limits.totalBytes.map { total > $0 } ?? false }

    func sentence(_ predicate: String) -> String {
      "It \(predicate)" + (application.map { ", by the rule for \($0)." } ?? ".")
    }
  }

  private let now: Date
  /// Those of the rules for all come first.
  private var groups: [Group]
  private let places: [String: Int]
  private let remembersAll: Bool
  private var candidates: [Candidate] = []
  private var gone: [Expiration] = []

  /// Decides by `rules` what goes at `now`.
  public init(_ rules: RetentionRules, now: Date) {
    self.now = now
    let own = rules.applications.sorted { $0.key < $1.key }
    groups = [Group(application: nil, limits: rules.limits)]
    groups += own.map { Group(application: $0.key, limits: $0.value) }
    places = Dictionary(uniqueKeysWithValues: own.enumerated().map { ($1.key, $0 + 1) })
    remembersAll = rules.limits.totalBytes != nil
  }

  /// Takes one more snapshot into account.
  public mutating func add(_ snapshot: RetentionSummary) {
    let place = places[snapshot.application] ?? 0
    let limits = groups[place].limits
    if !snapshot.isPinned {
      if let end = snapshot.expiresAt, end <= now {
        gone.append(Expiration(snapshot, .expires, Self.endHasCome))
        return
      }
      if let age = limits.age, now.timeIntervalSince(snapshot.receivedAt) > Double(age.seconds) {
        gone.append(Expiration(snapshot, .age, groups[place].sentence("is older than \(age)")))
        return
      }
    }
    groups[place].total += snapshot.size
    if place > 0 { groups[0].total += snapshot.size }
    guard !snapshot.isPinned else { return }
    guard remembersAll || limits.countPerReport != nil || limits.totalBytes != nil else { return }
    let report = limits.countPerReport == nil ? (0, 0) : Self.halves(of: snapshot.report)
    candidates.append(
      Candidate(
        id: snapshot.id, receivedAt: snapshot.receivedAt, size: snapshot.size, report: report.0,
        reportRest: report.1, group: place))
  }

  /// What goes, the oldest first.
  public consuming func plan() -> [Expiration] {
    if groups.contains(where: { $0.limits.countPerReport != nil }) { dropBeyondCount() }
    if groups.contains(where: { $0.limits.totalBytes != nil }) { dropBeyondTotal() }
    gone.sort { ($0.receivedAt, $0.id) < ($1.receivedAt, $1.id) }
    return gone
  }

  private mutating func dropBeyondCount() {
    candidates.sort(by: Candidate.comesBefore)
    let reasons = groups.map { group in
      let count = group.limits.countPerReport ?? 0
      return group.sentence("is not among the newest \(count) of its report, which are kept")
    }
    var former: Candidate?
    var rank = 0
    drop(.countPerReport) { candidate, groups in
      rank = former.map(candidate.isOfSameReport) == true ? rank + 1 : 0
      former = candidate
      guard let limit = groups[candidate.group].limits.countPerReport, rank >= limit else { return nil }
      return reasons[candidate.group]
    }
  }

  private mutating func dropBeyondTotal() {
    candidates.sort(by: Candidate.isOlder)
    let reasons = groups.map { group in
      let total = group.limits.totalBytes ?? 0
      return group.sentence("is among the oldest, and all together have more than \(total) bytes")
    }
    drop(.totalBytes) { candidate, groups in
      [candidate.group, 0].first { groups[$0].isTooLarge }.map { reasons[$0] }
    }
  }

  /// Lets go what `reason` has a sentence for.
  private mutating func drop(
    _ rule: Expiration.Rule, _ reason: (Candidate, [Group]) -> String?
  ) {
    var rest: [Candidate] = []
    swap(&rest, &candidates)
    rest.removeAll { candidate in
      guard let reason = reason(candidate, groups) else { return false }
      groups[candidate.group].total -= candidate.size
      if candidate.group > 0 { groups[0].total -= candidate.size }
      gone.append(
        Expiration(
          id: candidate.id, receivedAt: candidate.receivedAt, size: candidate.size, rule: rule, reason: reason
        ))
      return true
    }
    candidates = rest
  }

  private static let endHasCome = "The end that was set for it has come."

  private static func halves(of report: ReportID) -> (UInt64, UInt64) {
    let bytes = ContentDigest.of(Array(report.description.utf8)).bytes
    func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
    return (number(0..<8), number(8..<16))
  }
}

extension Expiration {
  fileprivate init(_ snapshot: RetentionSummary, _ rule: Rule, _ reason: String) {
    self.init(
      id: snapshot.id, receivedAt: snapshot.receivedAt, size: snapshot.size, rule: rule, reason: reason)
  }
}
