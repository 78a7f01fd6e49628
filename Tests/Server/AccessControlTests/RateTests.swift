import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import ServerTesting
import SnapshotServer
import SystemIO
import TestSupport
import Testing

@testable import AccessControl

@Suite struct RateTests {
  private func rate(_ text: String) throws -> RateLimit { try #require(RateLimit(text)) }

  // MARK: Buckets

  @Test func `a bucket allows a burst, and then requests at the rate at which it fills`() throws {
    var bucket = TokenBucket(try rate("4/min").allowance, at: .seconds(100))
    for left in [3, 2, 1, 0] {
      let verdict = bucket.take(at: .seconds(100))
      #expect(verdict.isAllowed)
      #expect(verdict.remaining == left)
    }
    let refused = bucket.take(at: .seconds(100))
    #expect(!refused.isAllowed)
    #expect(refused.secondsUntilEnough == 15)
    #expect(refused.secondsUntilFull == 60)
    #expect(!bucket.take(at: .milliseconds(114_999)).isAllowed)
    #expect(bucket.take(at: .milliseconds(115_001)).isAllowed)
    #expect(!bucket.take(at: .milliseconds(115_001)).isAllowed)
    #expect(bucket.take(at: .seconds(10_000)).remaining == 3)
    #expect(bucket.take(at: .seconds(1)).remaining == 2, "a clock that goes back takes nothing away")
  }

  @Test func `a table evicts full buckets first, then the least recently used ones`() throws {
    let table = BucketTable<Int>(capacity: 8)
    let slow = try rate("1/h").allowance
    for key in 0..<8 { #expect(table.take(key, slow, at: .seconds(key)).isAllowed) }
    #expect(table.count == 8)
    #expect(!table.take(0, slow, at: .seconds(8)).isAllowed)
    #expect(table.take(8, slow, at: .seconds(9)).isAllowed)
    #expect(table.count == 8)
    #expect(!table.take(0, slow, at: .seconds(10)).isAllowed, "1 was older")
    #expect(table.take(1, slow, at: .seconds(11)).isAllowed)
    for key in 100..<100_000 { _ = table.take(key, slow, at: .seconds(12)) }
    #expect(table.count <= 8)
    #expect(table.take(-1, slow, at: .seconds(20_000)).isAllowed)
    #expect(table.count == 1)
  }

  @Test func `what was taken from a bucket is reported once, and again if the report was lost`() throws {
    let table = BucketTable<String>(capacity: 8)
    let allowance = Allowance(amount: 100, seconds: 1_000_000)
    func take(_ amount: Int) -> Int { table.take("a", allowance, amount, at: .zero).remaining }
    #expect(take(10) == 90)
    #expect(take(20) == 70)
    #expect(!table.take("a", allowance, 71, at: .zero).isAllowed)
    let uses = table.takeUses()
    #expect(uses.map(\.key) == ["a"])
    #expect(uses.map(\.amount) == [30], "what was refused was not taken")
    #expect(table.takeUses().isEmpty)
    #expect(take(1) == 69)
    table.putBack(uses)
    let again = table.takeUses()
    #expect(again.map(\.amount) == [31])
    // What is taken while the report is on its way is still missing in its answer.
    #expect(take(5) == 64)
    table.set(40, of: again[0], at: .zero)
    #expect(take(0) == 35)
    #expect(table.takeUses().map(\.amount) == [5])
    // A bucket from which nothing could be taken is reported, so that its level is compared with that of other servers.
    table.set(-1, of: again[0], at: .zero)
    #expect(!table.take("a", allowance, 1, at: .zero).isAllowed)
    #expect(table.takeUses().map(\.amount) == [0])
    // A report about another allowance changes nothing.
    #expect(try table.take("a", rate("1/h").allowance, at: .zero).isAllowed)
    table.putBack(again)
    table.set(100, of: again[0], at: .zero)
    #expect(table.takeUses().map(\.amount) == [1])
    #expect(try !table.take("a", rate("1/h").allowance, at: .zero).isAllowed)
  }

  @Test func `a changed limit starts with a new bucket`() throws {
    let table = BucketTable<String>(capacity: 8)
    #expect(try table.take("a", rate("1/h").allowance, at: .zero).isAllowed)
    #expect(try !table.take("a", rate("1/h").allowance, at: .zero).isAllowed)
    #expect(try table.take("a", rate("2/h").allowance, at: .zero).isAllowed)
  }

  // MARK: Responses

  @Test func `a token's rate limit is enforced, and reported in responses`() async throws {
    let guarded = try GuardedAPI()
    let (slow, other) = (try guarded.token(.read, rate: rate("2/min")), try guarded.token(.read))
    for left in [1, 0] {
      let answer = try await guarded.api.send(.get, "/v1/snapshots", slow.fields)
      #expect(answer.status == 200)
      #expect(answer.fields[.rateLimitPolicy] == "\"token\";q=2;w=60")
      #expect(answer.fields[.rateLimit] == "\"token\";r=\(left);t=\(60 - left * 30)")
    }
    let refused = try await guarded.api.send(.get, "/v1/snapshots", slow.fields)
    #expect(refused.status == 429)
    #expect(refused.kind == "rate-limited")
    #expect(refused.fields[.retryAfter] == "30")
    #expect(refused.fields[.rateLimitPolicy] == "\"token\";q=2;w=60")
    #expect(refused.fields[.rateLimit] == "\"token\";r=0;t=60")
    let free = try await guarded.api.send(.get, "/v1/snapshots", other.fields)
    #expect(free.status == 200)
    #expect(free.fields[.rateLimitPolicy] == nil)
    guarded.clock.pass(.seconds(30))
    #expect(try await guarded.api.send(.get, "/v1/snapshots", slow.fields).status == 200)
    #expect(try await guarded.api.send(.get, "/v1/snapshots", slow.fields).status == 429)
  }

  @Test func `an upload that exceeds the rate is refused before its body is read`() async throws {
    let guarded = try GuardedAPI()
    let token = try guarded.token(.attach, rate: rate("1/h"))
    let bundle = try ZippedSample()
    #expect(try await guarded.api.upload(bundle.bytes, fields: token.fields).status == 201)
    #expect(try await guarded.api.upload(bundle.bytes, fields: token.fields).status == 429)
    #expect(guarded.api.store.ends.begun == 1)
  }

  @Test func `the server's own rates apply to addresses, and to tokens without a rate`() async throws {
    let limit = try rate("3/min")
    let tokens = try GuardedAPI { $0.rates.token = limit }
    let (one, two) = (try tokens.token(.read), try tokens.token(.read))
    for _ in 0..<3 { #expect(try await tokens.api.send(.get, "/v1/snapshots", one.fields).status == 200) }
    #expect(try await tokens.api.send(.get, "/v1/snapshots", one.fields).status == 429)
    #expect(try await tokens.api.send(.get, "/v1/snapshots", two.fields).status == 200)

    let addresses = try GuardedAPI { $0.rates.address = limit }
    for _ in 0..<5 { #expect(try await addresses.api.send(.get, "/v1/snapshots").status == 200) }
    let token = try addresses.token(.read)
    func ask(_ peer: String, _ fields: HTTPFields) async throws -> Int {
      try await addresses.api.send(.get, "/v1/snapshots", fields, peer: peer).status
    }
    #expect(try await ask("192.0.2.1:1", token.fields) == 200)
    #expect(try await ask("192.0.2.1:2", [:]) == 401)
    #expect(try await ask("[::ffff:192.0.2.1]:3", token.fields) == 200)
    #expect(try await ask("192.0.2.1:4", token.fields) == 429)
    #expect(try await ask("192.0.2.1", [:]) == 429)
    #expect(try await ask("192.0.2.2:1", token.fields) == 200)
    for last in 1...3 { #expect(try await ask("[2001:db8::\(last)]:1", token.fields) == 200) }
    #expect(try await ask("[2001:db8::9]:1", token.fields) == 429)
    #expect(try await ask("[2001:db8:0:1::1]:1", token.fields) == 200)
    #expect(
      try await addresses.api.send(.get, "/healthz", peer: "192.0.2.1:1").status == 200,
      "what is open to all is not counted")
  }

  @Test func `requests with a valid token count for their address, also while the tokens do not change`()
    async throws
  {
    let limit = try rate("3/min")
    let guarded = try GuardedAPI { $0.rates.address = limit }
    let token = try guarded.token(.read)
    try guarded.settleTokens()
    func ask(_ peer: String) async throws -> Int {
      try await guarded.api.send(.get, "/v1/snapshots", token.fields, peer: peer).status
    }
    for _ in 0..<3 { #expect(try await ask("192.0.2.1:1") == 200) }
    #expect(try await ask("192.0.2.1:2") == 429)
    #expect(try await ask("192.0.2.2:1") == 200)
  }

  @Test(arguments: [true, false]) func `a quota of bytes is enforced for tokens and for addresses`(
    isOfToken: Bool
  ) async throws {
    let bundle = try ZippedSample()
    let size = bundle.bytes.count
    let quota = try #require(UploadQuota(bytes: 2 * size + size / 2, seconds: 100))
    let guarded = try GuardedAPI { if !isOfToken { $0.rates.addressQuota = quota } }
    let request = TokenStore.Request(scopes: [.attach], quota: isOfToken ? quota : nil)
    let token = GuardedAPI.bearer(try guarded.tokens.create(request).secret)
    for _ in 0..<2 { #expect(try await guarded.api.upload(bundle.bytes, fields: token).status == 201) }
    let begun = guarded.api.store.ends.begun
    let refused = try await guarded.api.upload(bundle.bytes, fields: token)
    #expect(refused.status == 429)
    #expect(refused.kind == "upload-quota-exceeded")
    #expect(refused.fields[.retryAfter] == "20")
    let name = isOfToken ? "token" : "address"
    #expect(refused.fields[.rateLimitPolicy] == "\"\(name)\";q=\(quota.bytes);w=100;qu=\"content-bytes\"")
    #expect(guarded.api.store.ends.begun == begun, "its length was told")
    let chunked = try await guarded.api.upload(bundle.bytes, fields: token, isChunked: true)
    #expect(chunked.status == 429)
    #expect(guarded.api.store.ends == .init(begun: begun + 1, committed: 2, discarded: 1))
    guarded.clock.pass(.seconds(100))
    #expect(try await guarded.api.upload(bundle.bytes, fields: token, isChunked: true).status == 201)
    let never = try await guarded.api.upload([UInt8](repeating: 0, count: quota.bytes + 1), fields: token)
    #expect(never.status == 413)
    let other = try guarded.token(.attach).fields
    guarded.clock.pass(.seconds(1))
    for _ in 0..<2 { _ = try await guarded.api.upload(bundle.bytes, fields: token) }
    #expect(try await guarded.api.upload(bundle.bytes, fields: other).status == (isOfToken ? 201 : 429))
  }

  @Test(arguments: [true, false]) func `streamed bytes count against both quotas`(
    addressIsSmall: Bool
  ) async throws {
    let bundle = try ZippedSample()
    let size = bundle.bytes.count
    let (small, large) = (
      UploadQuota(bytes: size + size / 2, seconds: 100), UploadQuota(bytes: 10 * size, seconds: 100)
    )
    let guarded = try GuardedAPI { $0.rates.addressQuota = addressIsSmall ? small : large }
    let request = TokenStore.Request(scopes: [.attach], quota: addressIsSmall ? large : small)
    let token = GuardedAPI.bearer(try guarded.tokens.create(request).secret)
    #expect(try await guarded.api.upload(bundle.bytes, fields: token, isChunked: true).status == 201)
    let refused = try await guarded.api.upload(bundle.bytes, fields: token, isChunked: true)
    #expect(refused.status == 429)
    let name = addressIsSmall ? "address" : "token"
    #expect(refused.fields[.rateLimitPolicy]?.hasPrefix("\"\(name)\"") == true)
  }

  @Test(
    arguments: [
      ("1B/s", 1, 1), ("10GB/d", 10_000_000_000, 86_400), ("500MB/h", 500_000_000, 3600),
      ("1500kB/90s", 1_500_000, 90),
      ("1000TB/min", 1_000_000_000_000_000, 60),
    ])
  func `a quota is parsed`(text: String, bytes: Int, seconds: Int) {
    let quota = UploadQuota(text)
    #expect(quota?.bytes == bytes)
    #expect(quota?.seconds == seconds)
    #expect(quota.map(\.description).flatMap(UploadQuota.init) == quota)
  }

  @Test(arguments: [
    "", "10GB", "10/d", "0B/d", "1001TB/d", "1gb/d", "1 GB/d", "9999999999999TB/d", "1B/0s", "-1B/s",
  ])
  func `a malformed quota is refused`(text: String) { #expect(UploadQuota(text) == nil) }

  // MARK: Wrong tokens

  @Test func `wrong tokens are delayed longer and longer, valid ones never`() async throws {
    let guarded = try GuardedAPI()
    let right = try guarded.token(.read)
    func ask(_ fields: HTTPFields, _ peer: String = "192.0.2.1:1") async throws -> Int {
      try await guarded.api.send(.get, "/v1/snapshots", fields, peer: peer).status
    }
    let wrong = GuardedAPI.bearer("wrong")
    for _ in 0..<10 { #expect(try await ask(wrong) == 401) }
    #expect(guarded.clock.slept.isEmpty)
    for _ in 0..<9 { #expect(try await ask(wrong) == 401) }
    let seconds = guarded.clock.slept.map { $0 / .seconds(1) }
    #expect(seconds == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5])
    #expect(try await ask(right.fields) == 200)
    #expect(try await ask([:]) == 401)
    #expect(try await ask(wrong, "192.0.2.2:1") == 401)
    #expect(guarded.clock.slept.count == 9)
    guarded.clock.pass(.seconds(120))
    #expect(try await ask(wrong) == 401)
    #expect(guarded.clock.slept.count == 9)
  }

  @Test func `requests are refused immediately if too many are delayed`() async throws {
    var limits = FailedLoginThrottle.Limits()
    limits.free = 1
    limits.waitingPerAddress = 2
    limits.waiting = 3
    let gate = AsyncStream.makeStream(of: Void.self)
    let asleep = AsyncStream.makeStream(of: Void.self)
    // Who should not be delayed does not wait.
    let expected = Lock(0)
    let clock = AccessClock(
      elapsed: { .zero },
      sleep: { _ in
        let isExpected = expected.withLock { count in
          count -= 1
          return count >= 0
        }
        guard isExpected else { return }
        asleep.continuation.yield()
        for await _ in gate.stream {}
      })
    let failedLogins = FailedLoginThrottle(limits, clock: clock)
    #expect(try await failedLogins.wait("a") == nil)
    #expect(try await failedLogins.wait("b") == nil)
    try await withThrowingTaskGroup(of: Int?.self) { group in
      var sleepers = asleep.stream.makeAsyncIterator()
      for address in ["a", "a", "b"] {
        if address == "b" { #expect(try await failedLogins.wait("a") == 5, "two wait from there") }
        expected.withLock { $0 = 1 }
        group.addTask { try await failedLogins.wait(address) }
        await sleepers.next()
      }
      #expect(try await failedLogins.wait("b") == 5, "three wait in all")
      #expect(try await failedLogins.wait("c") == nil)
      gate.continuation.finish()
      for try await seconds in group { #expect(seconds == nil) }
    }
    #expect(try await failedLogins.wait("a") == nil)
  }

  @Test func `an address whose responses are delayed is not forgotten`() async throws {
    var limits = FailedLoginThrottle.Limits()
    (limits.free, limits.waiting, limits.addresses) = (2, 1, 8)
    let (isAsleep, gate) = (Signal(), Signal())
    let clock = AccessClock(
      elapsed: { .zero },
      sleep: { _ in
        isAsleep.fire()
        await gate.wait()
      })
    let failedLogins = FailedLoginThrottle(limits, clock: clock)
    for _ in 0..<2 { #expect(try await failedLogins.wait("a") == nil) }
    let delayed = Task { try await failedLogins.wait("a") }
    await isAsleep.wait()
    // Others that fail more often are refused at once, and can be forgotten.
    for number in 0..<100 {
      for expected in [nil, nil, 5, 5, 5] { #expect(try await failedLogins.wait("\(number)") == expected) }
    }
    #expect(try await failedLogins.wait("a") == 5)
    gate.fire()
    #expect(try await delayed.value == nil)
    #expect(try await failedLogins.wait("a") == nil, "no response is delayed any more")
  }

  @Test func `the number of remembered addresses is limited`() async throws {
    var limits = FailedLoginThrottle.Limits()
    limits.addresses = 16
    let clock = HandClock()
    let failedLogins = FailedLoginThrottle(limits, clock: clock.accessClock)
    for _ in 0..<11 { _ = try await failedLogins.wait("worst") }
    for number in 0..<1000 { _ = try await failedLogins.wait("\(number)") }
    #expect(failedLogins.count <= 16)
    #expect(clock.slept.count == 1)
    _ = try await failedLogins.wait("worst")
    #expect(clock.slept.count == 2, "who failed most is forgotten last")
  }

  @Test(
    arguments: [
      ("192.0.2.1:4711", "192.0.2.1", "192.0.2.1"), ("192.0.2.1", "192.0.2.1", "192.0.2.1"),
      ("[2001:db8::1]:4711", "2001:db8::1", "2001:db8::"), ("[2001:db8::1]", "2001:db8::1", "2001:db8::"),
      ("2001:db8::1", "2001:db8::1", "2001:db8::"), ("unknown", "unknown", "unknown"),
      ("_hidden:80", "_hidden", "_hidden"), ("[::ffff:192.0.2.1]:1", "::ffff:192.0.2.1", "192.0.2.1"),
    ])
  func `an address is separated from its port`(peer: String, address: String, counted: String) {
    #expect(ClientAddress(peer: peer).description == address)
    #expect(ClientAddress(peer: peer).counted == counted)
  }
}
