public import Foundation
public import SnapshotFormat
import SystemIO

/// Determines the expired snapshots from the summaries of all snapshots, in any order. It reads and changes nothing
/// else.
///
/// It uses less than 100 bytes for each expired snapshot, and for each snapshot that a limit of count or size applies
/// to; none for other snapshots.
public struct RetentionPlanner: Sendable {
  /// A snapshot that can expire once all snapshots are known.
  private struct Candidate {
    let id: SnapshotID
    let receivedAt: Date
    let size: Int64
    /// The first 16 bytes of the digest of the report's name, as two numbers; zero if the count per report is not
    /// limited.
    let report: UInt64
    let reportRest: UInt64
    let group: Int

    static func isOlder(_ left: Self, _ right: Self) -> Bool {
      (left.receivedAt, left.id) < (right.receivedAt, right.id)
    }

    func isOfSameReport(as other: Self) -> Bool {
      group == other.group && report == other.report && reportRest == other.reportRest
    }

    /// Orders by report, and by descending age within a report.
    static func comesBefore(_ left: Self, _ right: Self) -> Bool {
      left.isOfSameReport(as: right)
        ? isOlder(right, left)
        : (left.group, left.report, left.reportRest) < (right.group, right.report, right.reportRest)
    }
  }

  /// The snapshots under the same limits: those of one application, or all others.
  private struct Group {
    let application: String?
    let limits: RetentionRules.Limits
    var total: Int64 = 0

    var isTooLarge: Bool { limits.totalBytes.map { total > $0 } ?? false }

    func sentence(_ predicate: String) -> String {
      "It \(predicate)" + (application.map { ", by the rule for \($0)." } ?? ".")
    }
  }

  /// 2020-01-01, years before the first snapshot. Clocks that were never set begin earlier.
  private static let earliest = Date(timeIntervalSince1970: 1_577_836_800)

  private let now: Date
  /// The first group has the general rules; the others follow by application.
  private var groups: [Group]
  private let places: [String: Int]
  private let remembersAll: Bool
  private var candidates: [Candidate] = []
  private var gone: [Expiration] = []
  /// The number of snapshots whose time of receipt can't be right.
  public private(set) var undated = 0

  /// Creates a planner that applies `rules` at the time `now`.
  public init(_ rules: RetentionRules, now: Date) {
    self.now = now
    let own = rules.applications.sorted { $0.key < $1.key }
    groups = [Group(application: nil, limits: rules.limits)]
    groups += own.map { Group(application: $0.key, limits: $0.value) }
    places = Dictionary(uniqueKeysWithValues: own.enumerated().map { ($1.key, $0 + 1) })
    remembersAll = rules.limits.totalBytes != nil
  }

  /// Adds a snapshot.
  ///
  /// If its time of receipt can't be right, because the clock was wrong then, its age and its place among the others are
  /// not known. The rules do not apply to it, and it does not count for others.
  public mutating func add(_ snapshot: RetentionSummary) {
    let place = places[snapshot.application] ?? 0
    let limits = groups[place].limits
    if !snapshot.isPinned, let end = snapshot.expiresAt, end <= now, end >= Self.earliest {
      gone.append(Expiration(snapshot, .expires, Self.endHasCome))
      return
    }
    guard snapshot.isPinned || isPlausible(snapshot.receivedAt) else {
      undated += 1
      return
    }
    if !snapshot.isPinned, let age = limits.age,
      now.timeIntervalSince(snapshot.receivedAt) > Double(age.seconds)
    {
      gone.append(Expiration(snapshot, .age, groups[place].sentence("is older than \(age)")))
      return
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

  private func isPlausible(_ time: Date) -> Bool {
    time >= Self.earliest && time.timeIntervalSince(now) <= ClockMark.tolerance
  }

  /// Returns the expired snapshots, oldest first.
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

  /// Moves the candidates for which `reason` returns a sentence to the expired snapshots.
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

  private static let endHasCome = "Its expiration date has passed."

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

/// The snapshots that a run would delete.
///
/// If the clock jumps, or the rules contain a mistake, most snapshots can expire at once, and deletions cannot be
/// undone. A run that would delete at least ``smallestHeld`` snapshots and more than a fifth of all snapshots therefore
/// needs a confirmation, and so does any run while the clock is doubted.
public struct RetentionPlan: Sendable, Hashable {
  /// The smallest number of deletions that can need a confirmation.
  public static let smallestHeld = 100
  /// A run needs no confirmation if it deletes at most one of this number of snapshots.
  public static let oneIn = 5

  /// The expired snapshots, oldest first.
  public var expirations: [Expiration]
  /// The number of all snapshots, including the expired ones.
  public var total: Int
  /// The number of snapshots that the rules do not apply to, because their time of receipt can't be right.
  public var undated: Int
  /// Why the clock is not believed; `nil` if it is.
  public var doubt: ClockDoubt?

  /// Creates a plan.
  public init(expirations: [Expiration], total: Int, undated: Int = 0, doubt: ClockDoubt? = nil) {
    self.expirations = expirations
    self.total = total
    self.undated = undated
    self.doubt = doubt
  }

  /// Whether a person must confirm the plan before it is carried out.
  public var needsConfirmation: Bool {
    doubt != nil || expirations.count >= Self.smallestHeld && expirations.count > total / Self.oneIn
  }
}

/// A run was stopped before it deleted anything, because it needs a confirmation.
public struct ExpirationHeld: Error, Sendable, Hashable, CustomStringConvertible {
  /// The number of expired snapshots.
  public var due: Int
  /// The number of all snapshots.
  public var total: Int
  /// Why the clock is not believed; `nil` if the number is the reason.
  public var doubt: ClockDoubt?

  init(_ plan: RetentionPlan) {
    due = plan.expirations.count
    total = plan.total
    doubt = plan.doubt
  }

  /// The reason, and how to proceed.
  public var description: String {
    if let doubt { return "\(doubt) \(due) of \(total) snapshots would be deleted." }
    return """
      \(due) of \(total) snapshots would be deleted at once, so nothing was deleted. Check the clock, the rules and the \
      output of `snapshot expire --dry-run`. `snapshot expire --confirm` deletes the snapshots.
      """
  }
}
