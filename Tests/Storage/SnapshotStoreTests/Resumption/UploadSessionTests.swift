import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import TestSupport
import Testing

@Suite struct UploadSessionTests {
  private let start = Date(timeIntervalSince1970: 1_800_000_000)
  private let limits: UploadLimits = {
    var limits = UploadLimits()
    limits.length = 1000
    limits.idle = .seconds(60)
    limits.age = .seconds(100)
    return limits
  }()

  private func make(_ length: Int64? = nil, _ kind: UploadTerms.Kind = .whole(.sample)) throws
    -> UploadSession
  {
    try UploadSession(UploadTerms(kind, length: length, dialect: "test"), limits: limits, at: start)
  }

  /// Appends `count` bytes to `session` with one request; returns the error as a word.
  @discardableResult
  private func append(
    _ count: Int, declared: Int64?? = .none, offset: Int64? = nil, length: Int64? = nil,
    completes: Bool? = nil,
    to session: inout UploadSession
  ) -> String? {
    var changed = session
    return failureWord {
      let request = AppendRequest(offset: offset ?? session.offset, length: length, completes: completes)
      var append = try changed.admit(request, bytes: declared ?? Int64(count), limits: limits, at: start)
      try append.receive(count)
      changed.advance(to: append.end, at: start)
      session = changed
      try session.finish(append, at: start)
    }
  }

  @Test(
    arguments: [
      (-1, "inconsistentLength"), (0, nil), (1, nil), (999, nil), (1000, nil), (1001, "tooLarge"),
      (.max, "tooLarge"),
    ] as [(Int64, String?)])
  func `a length from zero to the limit is accepted`(length: Int64, expected: String?) {
    #expect(failureWord { _ = try make(length) } == expected)
  }

  @Test func `an upload is complete when its length is reached`() throws {
    var session = try make(10)
    #expect(append(4, to: &session) == nil)
    #expect(session.offset == 4 && !session.isWhole)
    #expect(append(6, to: &session) == nil)
    #expect(session.isWhole && session.isDue)
  }

  @Test func `an upload of length zero is complete after the first request`() throws {
    var session = try make(0)
    #expect(!session.isWhole)
    #expect(append(0, to: &session) == nil)
    #expect(session.isWhole)
  }

  @Test func `if a request states that more will follow, reaching the length does not complete the upload`()
    throws
  {
    var session = try make(10)
    append(10, completes: false, to: &session)
    #expect(!session.isWhole)
    #expect(append(0, completes: true, to: &session) == nil)
    #expect(session.isWhole)
  }

  @Test func `a deferred length can be stated once and stays`() throws {
    var session = try make()
    append(5, to: &session)
    #expect(!session.isWhole)
    #expect(append(1, length: 4, to: &session) == "inconsistentLength")
    #expect(append(1, length: -4, to: &session) == "inconsistentLength")
    #expect(append(1, length: 1001, to: &session) == "tooLarge")
    #expect(append(1, length: 10, to: &session) == nil)
    #expect(append(1, length: 11, to: &session) == "inconsistentLength")
    #expect(append(1, length: 10, to: &session) == nil)
    #expect(session.length == 10)
    #expect(append(3, length: 10, to: &session) == nil)
    #expect(session.isWhole)
  }

  @Test func `the length of the last request determines the upload's length`() throws {
    var session = try make()
    append(5, completes: false, to: &session)
    #expect(append(5, completes: true, to: &session) == nil)
    #expect(session.length == 10 && session.isWhole)
  }

  @Test(arguments: [Int64?.none, 20])
  func `a last request that does not bring the remaining bytes is refused`(declared: Int64?) throws {
    var session = try make(10)
    append(5, completes: false, to: &session)
    #expect(append(4, declared: 4, completes: true, to: &session) == "inconsistentLength")
    #expect(append(6, declared: 6, completes: true, to: &session) == "inconsistentLength")
    #expect(session.offset == 5)
    // Without a declared length, the excess is known only once the bytes have arrived.
    #expect(append(4, declared: .some(nil), completes: true, to: &session) == "inconsistentLength")
    #expect(session.offset == 9 && !session.isWhole)
    #expect(append(1, completes: true, to: &session) == nil)
  }

  @Test(arguments: [-1, 0, 4, 6, .max, .min] as [Int64])
  func `bytes that do not begin at the end of the upload are refused`(offset: Int64) throws {
    var session = try make(10)
    append(5, to: &session)
    let before = session
    #expect(append(1, offset: offset, to: &session) == "mismatchingOffset")
    #expect(session == before)
  }

  @Test(arguments: [true, false])
  func `more bytes than declared are refused, and so are more than allowed`(isDeclared: Bool) throws {
    var session = try make(10)
    #expect(append(11, declared: isDeclared ? 11 : .some(nil), to: &session) == "exceeded")
    #expect(session.offset == 0)
    #expect(append(10, declared: isDeclared ? 10 : .some(nil), to: &session) == nil)
    var open = try make()
    #expect(append(1001, declared: isDeclared ? 1001 : .some(nil), completes: false, to: &open) == "tooLarge")
    #expect(append(1000, declared: isDeclared ? 1000 : .some(nil), completes: false, to: &open) == nil)
    #expect(append(1, declared: isDeclared ? 1 : .some(nil), completes: false, to: &open) == "tooLarge")
    #expect(append(0, declared: .max, completes: false, to: &open) == "tooLarge")
  }

  @Test func `a complete upload returns its outcome to a request without bytes, and accepts no bytes`() throws
  {
    var session = try make(3)
    append(3, to: &session)
    #expect(append(0, to: &session) == nil)
    #expect(append(0, length: 3, completes: true, to: &session) == nil)
    #expect(append(1, to: &session) == "completed")
    #expect(append(1, declared: .some(nil), to: &session) == "completed")
    #expect(append(0, completes: false, to: &session) == "completed")
    #expect(append(0, length: 4, to: &session) == "inconsistentLength")
    #expect(append(0, offset: 0, to: &session) == "mismatchingOffset")
    session.end(.published(SnapshotID(), isNew: true), at: start)
    #expect(append(0, to: &session) == nil)
    #expect(append(1, to: &session) == "completed")
    #expect(!session.isDue)
  }

  @Test func `bytes with a digest count once all have arrived`() throws {
    var session = try make(10)
    let digest = StatedDigest.before(.init(.sha1, []))
    var append = try session.admit(
      AppendRequest(offset: 0, digest: digest), bytes: nil, limits: limits, at: start)
    try append.receive(4)
    #expect((append.countable, append.end) == (0, 4))
    var plain = try session.admit(AppendRequest(offset: 0), bytes: nil, limits: limits, at: start)
    try plain.receive(4)
    #expect(plain.countable == 4)
  }

  @Test func `a stated digest of all bytes is kept until the upload is published`() throws {
    let digests = [ContentDigest.of([1]), .of([2])]
    var session = try make(10)
    #expect(session.attachment?.expected == nil)
    func state(_ digest: ContentDigest?) -> String? {
      failureWord {
        let request = AppendRequest(offset: 0, expected: digest)
        _ = try session.admit(request, bytes: 10, limits: limits, at: start)
      }
    }
    #expect(state(digests[0]) == nil)
    #expect(state(nil) == nil)
    #expect(session.attachment?.expected == digests[0])
    #expect(state(digests[1]) == "digestMismatch")
    #expect(session.attachment?.expected == digests[0])
    let stored = try SnapshotJSON.decode(
      UploadSession.Progress.self, from: SnapshotJSON.encode(session.progress))
    #expect(UploadSession(session.id, session.terms, createdAt: start, progress: stored) == session)
    var joined = session.terms.attachment
    joined?.expected = digests[1]
    #expect(try make(10, .whole(#require(joined))).attachment?.expected == digests[1])
    #expect(try make(10, .partial).attachment == nil)
  }

  @Test func `an upload expires when it is idle, and at its maximum age even if it grows`() throws {
    var session = try make(100)
    #expect(session.expiresAt(limits) == start + 60)
    #expect(!session.isExpired(at: start + 59.9, limits))
    #expect(session.isExpired(at: start + 60, limits))
    session.advance(to: 10, at: start + 30)
    #expect(session.expiresAt(limits) == start + 90)
    session.advance(to: 20, at: start + 80)
    #expect(session.expiresAt(limits) == start + 100)
    #expect(
      failureWord {
        _ = try session.admit(AppendRequest(offset: 20), bytes: 1, limits: limits, at: start + 100)
      } == "gone")
    session.end(.published(SnapshotID(), isNew: true), at: start + 99)
    #expect(session.expiresAt(limits) == start + 159)
    // Setting the clock back makes no upload older.
    var other = try make(100)
    other.advance(to: 10, at: start - 1000)
    #expect(other.expiresAt(limits) == start + 60)
  }

  @Test func `only complete parts of the same owner are joined, and their lengths are added`() throws {
    func part(_ count: Int, _ owner: String? = nil, whole: Bool = true) throws -> UploadSession {
      var part = try UploadSession(
        UploadTerms(.partial, length: whole ? Int64(count) : 999, owner: owner, dialect: "test"),
        limits: limits,
        at: start)
      append(count, to: &part)
      return part
    }
    func join(_ parts: [UploadSession], length: Int64? = nil) -> String? {
      failureWord {
        let terms = UploadTerms(.joined(.sample, parts: parts.map(\.id)), length: length, dialect: "test")
        let session = try UploadSession(terms, joining: parts, limits: limits, at: start)
        #expect(session.isDue && session.offset == parts.reduce(0) { $0 + $1.offset })
      }
    }
    let five = try part(5)
    #expect(join([five, try part(0), five]) == nil)
    #expect(join([five], length: 5) == nil)
    #expect(join([five], length: 6) == "inconsistentLength")
    #expect(join([]) == "partCount")
    #expect(join(Array(repeating: five, count: limits.parts + 1)) == "partCount")
    #expect(join([five, try part(5, whole: false)]) == "unusablePart")
    #expect(join([five, try part(5, "other")]) == "unusablePart")
    var whole = try make(5)
    append(5, to: &whole)
    #expect(join([five, whole]) == "unusablePart")
    #expect(join([try part(999), try part(1)]) == nil)
    #expect(join([try part(999), try part(2)]) == "tooLarge")
    var joined = try UploadSession(
      UploadTerms(.joined(.sample, parts: [five.id]), dialect: "test"), joining: [five], limits: limits,
      at: start)
    #expect(append(1, to: &joined) == "joined")
  }

  @Test func `the number of open uploads is limited, in total and for each owner`() throws {
    var limits = limits
    (limits.open, limits.openPerOwner, limits.remembered) = (3, 2, 1)
    func terms(_ owner: String?) -> UploadTerms { UploadTerms(.partial, owner: owner, dialect: "test") }
    func session(_ owner: String?, ended second: TimeInterval? = nil) throws -> UploadSession {
      var session = try UploadSession(
        UploadTerms(.partial, owner: owner, dialect: "test"), limits: limits, at: start)
      if let second { session.end(.refused(UploadRefusal(.invalid, "")), at: start + second) }
      return session
    }
    let two = [try session("a"), try session("a")]
    #expect(failureWord { try limits.requireRoom(for: terms("a"), among: two) } == "tooManyOpen")
    #expect(failureWord { try limits.requireRoom(for: terms("b"), among: two) } == nil)
    #expect(
      failureWord { try limits.requireRoom(for: terms(nil), among: two + [try session("b")]) }
        == "tooManyOpen")
    #expect(
      failureWord { try limits.requireRoom(for: terms("a"), among: [two[0], try session("a", ended: 0)]) }
        == nil)
    let ended = [try session("a", ended: 2), try session("b", ended: 1), try session("c", ended: 3)]
    #expect(limits.forgotten(among: two + ended) == [ended[1].id, ended[0].id])
    #expect(limits.forgotten(among: two + ended.prefix(1)) == [])
  }

  @Test(arguments: [(1, nil), (2, "tooManyOpen"), (3, "tooManyOpen")] as [(Int, String?)])
  func `the number of open uploads from one address is limited, for all owners together`(
    open: Int, expected: String?
  ) throws {
    var limits = limits
    limits.openPerAddress = 2
    func terms(_ owner: String, _ address: String?) -> UploadTerms {
      UploadTerms(.partial, owner: owner, address: address, dialect: "test")
    }
    func sessions(_ count: Int, _ address: String?) throws -> [UploadSession] {
      try (0..<count).map { try UploadSession(terms("\($0)", address), limits: limits, at: start) }
    }
    var ended = try sessions(1, "192.0.2.1")[0]
    ended.end(.refused(UploadRefusal(.invalid, "")), at: start)
    let others = try sessions(5, "192.0.2.2") + sessions(5, nil) + [ended]
    let all = try sessions(open, "192.0.2.1") + others
    #expect(failureWord { try limits.requireRoom(for: terms("x", "192.0.2.1"), among: all) } == expected)
    #expect(failureWord { try limits.requireRoom(for: terms("x", "192.0.2.3"), among: all) } == nil)
    // Uploads that were created by versions without addresses have none.
    #expect(failureWord { try limits.requireRoom(for: terms("x", nil), among: all) } == nil)
  }

  @Test func `an upload without a byte expires earlier than one with bytes`() throws {
    var limits = limits
    limits.empty = .seconds(10)
    var session = try make(100)
    #expect(session.expiresAt(limits) == start + 10)
    #expect(!session.isExpired(at: start + 9.9, limits))
    #expect(session.isExpired(at: start + 10, limits) && !session.isOverdue(at: start + 10, limits))
    #expect(session.isOverdue(at: start + 60, limits))
    session.advance(to: 1, at: start + 9)
    #expect(session.expiresAt(limits) == start + 69)
    // All zero bytes have arrived, and the upload waits for its publication.
    var nothing = try make(0)
    let append = try nothing.admit(AppendRequest(offset: 0), bytes: 0, limits: limits, at: start)
    try nothing.finish(append, at: start)
    #expect(nothing.expiresAt(limits) == start + 60)
    limits.empty = .seconds(1000)
    #expect(try make(100).expiresAt(limits) == start + 60)
  }

  /// Random requests in random order.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func `no sequence of requests decreases an acknowledged offset`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var session = try make(Bool.random(using: &random) ? Int64.random(in: 0...30, using: &random) : nil)
    for _ in 0..<60 {
      let before = session
      let count = Int.random(in: 0...12, using: &random)
      let isDeclared = Bool.random(using: &random)
      let offset =
        session.offset
        + (Int.random(in: 0..<4, using: &random) == 0 ? Int64.random(in: -3...3, using: &random) : 0)
      let stated: Int64? =
        Int.random(in: 0..<5, using: &random) == 0 ? Int64.random(in: -1...40, using: &random) : nil
      let completes = [nil, true, false].randomElement(using: &random) ?? nil
      let word = append(
        count, declared: isDeclared ? Int64(count) : .some(nil), offset: offset, length: stated,
        completes: completes,
        to: &session)
      #expect(session.offset >= before.offset)
      #expect(before.length == nil || session.length == before.length)
      #expect(session.length.map { session.offset <= $0 && $0 <= limits.length } ?? true)
      #expect(!session.isWhole || session.offset == session.length)
      #expect(!before.isWhole || session == before)
      if word == nil {
        #expect(offset == before.offset)
        #expect(session.offset == before.offset + Int64(count))
        #expect(before.isWhole || session.isWhole == (completes ?? (session.length == session.offset)))
      } else if word != "inconsistentLength" {
        #expect(session == before)
      }
      if offset != before.offset { #expect(word == "mismatchingOffset") }
    }
  }
}
