import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import Testing

@Suite struct RetentionPlannerTests {
  private typealias Limits = RetentionRules.Limits
  private let now = Date(timeIntervalSince1970: 1_800_000_000)

  /// A snapshot that arrived `age` seconds before now.
  private func snapshot(
    age: Double, report: ReportID = .sample, application: String = "com.example.news", size: Int64 = 10,
    end: Double? = nil, isPinned: Bool = false
  ) -> RetentionSummary {
    RetentionSummary(
      id: SnapshotID(), report: report, application: application, receivedAt: now.addingTimeInterval(-age),
      size: size, expiresAt: end.map { now.addingTimeInterval($0) }, isPinned: isPinned)
  }

  private func plan(_ rules: RetentionRules, _ snapshots: [RetentionSummary]) -> [Expiration] {
    var planner = RetentionPlanner(rules, now: now)
    for snapshot in snapshots.shuffled() { planner.add(snapshot) }
    return planner.plan()
  }

  private func ids(_ expirations: [Expiration]) -> [SnapshotID] { expirations.map(\.id) }

  @Test func `without rules nothing expires`() {
    #expect(plan(RetentionRules(), (0..<100).map { snapshot(age: Double($0) * 1e7) }).isEmpty)
  }

  @Test func `a snapshot with its own expiration expires then, with or without rules`() {
    let (come, now, later) = (
      snapshot(age: 1, end: -0.001), snapshot(age: 2, end: 0), snapshot(age: 3, end: 0.001)
    )
    let plan = plan(RetentionRules(), [come, now, later])
    #expect(ids(plan) == [now.id, come.id])
    #expect(plan.allSatisfy { $0.rule == .expires && $0.reason.contains("expiration date") })
  }

  @Test func `snapshots older than the limit expire, the oldest first`() throws {
    let day = TimeSpan(words: "1d")
    let snapshots = [
      snapshot(age: 86_399), snapshot(age: 86_400), snapshot(age: 86_400.001), snapshot(age: 9e6),
    ]
    let plan = plan(RetentionRules(Limits(age: day)), snapshots)
    #expect(ids(plan) == [snapshots[3].id, snapshots[2].id])
    #expect(plan.map(\.rule) == [.age, .age])
    #expect(plan.first?.reason == "It is older than 1d.")
    #expect(plan.first?.size == 10)
    #expect(plan.first?.receivedAt == snapshots[3].receivedAt)
  }

  @Test func `a snapshot's own expiration can only shorten its life`() {
    let rules = RetentionRules(Limits(age: TimeSpan(words: "1h")))
    #expect(plan(rules, [snapshot(age: 7200, end: 1e6)]).map(\.rule) == [.age])
  }

  @Test(arguments: [1, 2, 4, 5]) func `the newest of each report are kept`(limit: Int) throws {
    let other = try ReportID(validating: "BUG-124")
    let (first, second) = (
      (0..<5).map { snapshot(age: Double($0)) }, (0..<2).map { snapshot(age: 10 + Double($0), report: other) }
    )
    let plan = plan(RetentionRules(Limits(countPerReport: limit)), first + second)
    let expected = first.dropFirst(limit).reversed().map(\.id)
    #expect(ids(plan).filter { id in first.contains { $0.id == id } } == expected)
    #expect(ids(plan).filter { id in second.contains { $0.id == id } } == second.dropFirst(limit).map(\.id))
    #expect(plan.allSatisfy { $0.rule == .countPerReport && $0.reason.contains("\(limit)") })
  }

  @Test func `a pinned snapshot is kept, and does not count for its report`() throws {
    let pinned = (0..<3).map { snapshot(age: Double($0), end: -1, isPinned: true) }
    let others = (0..<3).map { snapshot(age: 10 + Double($0)) }
    let rules = RetentionRules(
      Limits(age: TimeSpan(words: "1s"), countPerReport: 1, totalBytes: 1))
    #expect(Set(ids(plan(rules, pinned + others))) == Set(others.map(\.id)))
    #expect(ids(plan(RetentionRules(Limits(countPerReport: 2)), pinned + others)) == [others[2].id])
  }

  @Test(arguments: [(49, 1), (50, 0), (40, 1), (39, 2), (1, 5), (9, 5), (10, 4)] as [(Int64, Int)])
  func `the oldest expire until the rest fits`(total: Int64, count: Int) {
    let snapshots = (0..<5).map { snapshot(age: Double($0)) }
    let plan = plan(RetentionRules(Limits(totalBytes: total)), snapshots)
    #expect(ids(plan) == snapshots.suffix(count).reversed().map(\.id))
    #expect(plan.allSatisfy { $0.rule == .totalBytes })
  }

  @Test func `pinned snapshots take space, and those that expire by another rule do not`() throws {
    let pinned = snapshot(age: 100, size: 30, isPinned: true)
    let old = snapshot(age: 1e6, size: 1000)
    let fresh = (0..<3).map { snapshot(age: Double($0)) }
    let rules = RetentionRules(Limits(age: TimeSpan(words: "1d"), totalBytes: 50))
    let plan = plan(rules, [pinned, old] + fresh)
    #expect(ids(plan) == [old.id, fresh[2].id])
    #expect(plan.map(\.rule) == [.age, .totalBytes])
  }

  @Test(arguments: [-86_402, 2.3e8, 1_799_999_000] as [Double])
  func `a snapshot whose time of receipt can't be right is kept, and does not count for others`(
    age: Double
  ) throws {
    var undated = (0..<3).map { snapshot(age: age + Double($0) / 2, size: 1000) }
    let (old, new, older) = (snapshot(age: 2), snapshot(age: 1), snapshot(age: 90_000))
    let rules = RetentionRules(Limits(age: TimeSpan(words: "1d"), countPerReport: 1, totalBytes: 10))
    var planner = RetentionPlanner(rules, now: now)
    for snapshot in ([old, new, older] + undated).shuffled() { planner.add(snapshot) }
    #expect(planner.undated == 3)
    #expect(ids(planner.plan()) == [older.id, old.id])
    undated[0].expiresAt = now
    #expect(ids(plan(rules, undated)) == [undated[0].id])
  }

  @Test func `a clock that is a day ahead is nothing special`() throws {
    let (new, old) = (snapshot(age: -86_400), snapshot(age: 0))
    #expect(ids(plan(RetentionRules(Limits(countPerReport: 1)), [new, old])) == [old.id])
  }

  @Test func `an expiration that a clock that was never set has computed is ignored`() {
    let (never, first) = (snapshot(age: 1, end: -1_799_000_000), snapshot(age: 2, end: -222_163_200))
    #expect(ids(plan(RetentionRules(), [never, first])) == [first.id])
    #expect(first.expiresAt == Date(timeIntervalSince1970: 1_577_836_800))
  }

  @Test func `the limits of an application replace the general ones`() throws {
    let (day, hour) = (TimeSpan(words: "1d"), TimeSpan(words: "1h"))
    let rules = RetentionRules(
      Limits(age: day, countPerReport: 1),
      applications: ["beta": Limits(age: hour, countPerReport: 2, totalBytes: 15), "kept": Limits()])
    let beta = (0..<4).map { snapshot(age: $0 == 3 ? 3601 : Double($0), application: "beta") }
    let kept = (0..<3).map { snapshot(age: 1e8 + Double($0), application: "kept") }
    let others = [snapshot(age: 5), snapshot(age: 6), snapshot(age: 1e6)]
    let plan = plan(rules, beta + kept + others)
    let rule = Dictionary(uniqueKeysWithValues: plan.map { ($0.id, $0.rule) })
    #expect(beta.map { rule[$0.id] } == [nil, .totalBytes, .countPerReport, .age])
    #expect(kept.map { rule[$0.id] } == [nil, nil, nil])
    #expect(others.map { rule[$0.id] } == [nil, .countPerReport, .age])
    #expect(plan.first { $0.id == beta[3].id }?.reason == "It is older than 1h, by the rule for beta.")
  }

  @Test func `the limit of total bytes applies to all applications together`() {
    let rules = RetentionRules(Limits(totalBytes: 20), applications: ["kept": Limits()])
    let (old, new) = (snapshot(age: 10, application: "kept", size: 15), snapshot(age: 1, size: 15))
    #expect(ids(plan(rules, [old, new])) == [old.id])
  }

  @Test func `snapshots of the same time expire in the order of their ids`() {
    let snapshots = (0..<50).map { _ in snapshot(age: 5) }
    let order = snapshots.map(\.id).sorted()
    #expect(ids(plan(RetentionRules(Limits(totalBytes: 100)), snapshots)) == Array(order.prefix(40)))
    #expect(
      ids(plan(RetentionRules(Limits(countPerReport: 10)), snapshots)) == Array(order.prefix(40)))
  }

  /// The rules implemented again, as simply as possible.
  @Test(arguments: 0..<20) func `any records are decided according to the rules`(seed: UInt64) throws {
    var random = Lehmer(seed)
    let reports = try (0..<4).map { try ReportID(validating: "R-\($0)") }
    let snapshots = (0..<200).map { _ in
      snapshot(
        age: Double(random.next(upTo: 1000)), report: reports[random.next(upTo: 4)],
        size: Int64(random.next(upTo: 50)),
        end: random.next(upTo: 4) == 0 ? Double(random.next(upTo: 20)) - 10 : nil,
        isPinned: random.next(upTo: 10) == 0)
    }
    let limits = Limits(
      age: random.next(upTo: 2) == 0 ? nil : TimeSpan(seconds: Int64(random.next(upTo: 900)) + 1),
      countPerReport: random.next(upTo: 2) == 0 ? nil : random.next(upTo: 60) + 1,
      totalBytes: random.next(upTo: 2) == 0 ? nil : Int64(random.next(upTo: 4000)) + 1)
    var kept = snapshots.sorted { ($0.receivedAt, $0.id) > ($1.receivedAt, $1.id) }
    kept.removeAll { !$0.isPinned && $0.expiresAt.map { $0 <= now } ?? false }
    if let age = limits.age {
      kept.removeAll { !$0.isPinned && now.timeIntervalSince($0.receivedAt) > Double(age.seconds) }
    }
    if let count = limits.countPerReport {
      for report in reports {
        let beyond = Set(kept.filter { !$0.isPinned && $0.report == report }.dropFirst(count).map(\.id))
        kept.removeAll { beyond.contains($0.id) }
      }
    }
    if let total = limits.totalBytes {
      while kept.reduce(0, { $0 + $1.size }) > total, let last = kept.lastIndex(where: { !$0.isPinned }) {
        kept.remove(at: last)
      }
    }
    let gone = Set(ids(plan(RetentionRules(limits), snapshots)))
    #expect(Set(kept.map(\.id)) == Set(snapshots.map(\.id)).subtracting(gone))
  }
}

/// Random numbers that are the same in every run.
private struct Lehmer {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed &* 2_654_435_769 &+ 88_172_645_463_325_252 }

  mutating func next(upTo limit: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state >> 33) % limit
  }
}

extension TimeSpan {
  /// A time span that is known to be valid.
  fileprivate init(words: String) {
    guard let span = TimeSpan(words) else { preconditionFailure(words) }
    self = span
  }
}
