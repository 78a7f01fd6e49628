import JSONText
import Testing

@testable import SnapshotDiff

@Suite struct ChangeRankingTests {
  private func change(
    _ keys: [String], _ first: String? = "1", _ second: String? = "2", in recording: String = "a",
    of count: Int = 1
  ) -> ValueChange {
    let path = JSONPath(keys.map { key in Int(key).map(JSONPath.Step.index) ?? .key(key) })
    return ValueChange(
      recording: .init(identifier: recording), change: Change(place: path, first: first, second: second),
      countInRecording: count)
  }

  private func names(_ changes: [ValueChange]) -> [String] { changes.map(\.change.place.description) }

  @Test func `a value that was stable comes before one that changes often`() {
    let often = change(["items", "0", "views"])
    let rare = change(["user", "amount"])
    let once = change(["user", "name"])
    let ranking = ChangeRanking([
      [change(["items", "7", "views"]), once], [change(["items", "3", "views"])],
    ])
    #expect(names(ranking.ranked([often, once, rare])) == [".user.amount", ".user.name", ".items[0].views"])
    #expect(names(ChangeRanking().ranked([often, once])) == [".items[0].views", ".user.name"])
  }

  @Test func `a recording with few changes comes before one with many`() {
    let many = change(["x"], in: "feed", of: 40)
    let few = change(["y"], in: "profile", of: 2)
    #expect(names(ChangeRanking().ranked([many, few])) == [".y", ".x"])
  }

  @Test func `the same value of further elements comes after other values`() {
    let changes = [change(["items", "0", "a"]), change(["items", "1", "a"]), change(["items", "1", "b"])]
    #expect(names(ChangeRanking().ranked(changes)) == [".items[0].a", ".items[1].b", ".items[1].a"])
  }

  @Test func `times, identifiers and tokens come last`() {
    let volatile = [
      change(["updatedAt"]), change(["user_id"]), change(["API-TOKEN"]), change(["userID"]),
      change(
        ["ids", "0"], "\"0b8b4b4e-3b0e-4c5b-9d0a-3f3f6f1d2c11\"", "\"1b8b4b4e-3b0e-4c5b-9d0a-3f3f6f1d2c11\""),
      change(["when"], "\"2026-11-27T10:00:00Z\"", "\"2026-11-28T10:00:00Z\""),
      change(["seen"], "1795219200", "1795219201"), change(["ms"], "1795219200123", "1795219201123"),
      change(["etags", "1", "etag"]),
    ]
    let telling = [
      change(["format"]), change(["that"]), change(["amount"], "12.5", "-12.5"),
      change(["text"], "\"a sentence of some length 1\"", "\"another sentence of some length 2\""),
      change(["count"], "999999999", "4000000000"),
    ]
    let ranked = ChangeRanking().ranked(volatile + telling)
    #expect(names(ranked) == names(telling + volatile))
  }
}
