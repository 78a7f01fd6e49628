import HTTPTypes
import ServerTesting
import Testing

@testable import AccessControl

@Suite struct SessionTableTests {
  private let clock = HandClock()

  private func table(_ change: (inout SessionLimits) -> Void = { _ in }) -> Table {
    var limits = SessionLimits()
    change(&limits)
    return Table(table: SessionTable(limits, clock: clock.accessClock))
  }

  /// A table, with secrets as texts.
  private struct Table {
    let table: SessionTable

    var count: Int { table.keys.count }

    func begin(_ token: String) -> String {
      let secret = RandomSecret.make()
      table.add(SessionKey(of: secret), SharedSession(token: token))
      return secret
    }

    func token(of secret: String) -> String? { table.token(of: SessionKey(of: secret)) }
  }

  @Test func `a session is identified by its secret only`() {
    let table = table()
    let secret = table.begin("a")
    #expect(table.token(of: secret) == "a")
    #expect(table.token(of: secret + "A") == nil)
    #expect(table.token(of: "") == nil)
    table.table.remove(SessionKey(of: secret))
    #expect(table.token(of: secret) == nil)
  }

  @Test(arguments: [1, 2, 5]) func `the least recently used session is removed if there are too many`(
    limit: Int
  ) {
    let table = table { $0.sessions = limit }
    var secrets: [String] = []
    for number in 0..<limit {
      secrets.append(table.begin("\(number)"))
      clock.pass(.seconds(1))
    }
    #expect(secrets.allSatisfy { table.token(of: $0) != nil })
    clock.pass(.seconds(1))
    for secret in secrets.dropFirst() { _ = table.token(of: secret) }
    let last = table.begin("last")
    #expect(table.count == limit)
    #expect(table.token(of: secrets[0]) == nil)
    #expect(table.token(of: last) == "last")
    #expect(secrets.dropFirst().allSatisfy { table.token(of: $0) != nil })
  }

  @Test func `signing in often does not end the sessions of others`() {
    let table = table { $0.sessionsPerToken = 3 }
    let other = table.begin("other")
    var own: [String] = []
    for _ in 0..<10 {
      clock.pass(.seconds(1))
      own.append(table.begin("own"))
    }
    #expect(table.count == 4)
    #expect(table.token(of: other) == "other")
    #expect(own.suffix(3).allSatisfy { table.token(of: $0) == "own" })
  }

  @Test func `ended sessions are removed first`() {
    let table = table { $0.sessions = 2 }
    let old = table.begin("old")
    clock.pass(SessionLimits().idle)
    let fresh = table.begin("fresh")
    let next = table.begin("next")
    #expect(table.token(of: old) == nil)
    #expect(table.token(of: fresh) == "fresh")
    #expect(table.token(of: next) == "next")
  }
}
