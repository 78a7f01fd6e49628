import Foundation
import PostgreSQLStore
import PostgreSQLTesting
import SnapshotFormat
package import SnapshotStore
import Testing

/// The implementations of ``UploadRows``.
package enum UploadRowsKind: CaseIterable, Sendable {
  case memory, postgresql

  /// The implementations that can be tested on this machine.
  package static let allCases: [UploadRowsKind] =
    PostgreSQLServer.isInstalled ? [.memory, .postgresql] : [.memory]

  /// Runs `body` with an empty table.
  package func withRows(_ body: (any UploadRows) async throws -> Void) async throws {
    switch self {
    case .memory: try await body(InMemoryUploadRows())
    case .postgresql:
      try await withDatabase { configuration in
        let rows = try await PostgreSQLUploadRows.open(configuration)
        defer { rows.close() }
        try await body(rows)
      }
    }
  }
}

/// The guarantees of ``UploadRows``, tested with every implementation.
@Suite struct UploadRowsConformance {
  private static let limits = UploadLimits()
  private static let long = Duration.seconds(3600)

  /// A row with every kind of field.
  private static func row(
    _ sample: SampleBundle = SampleBundle(), owner: String? = "owner", address: String? = nil,
    at time: TimeInterval = 1_800_000_000
  ) throws -> UploadRow {
    var terms = UploadTerms.of(sample, owner: owner)
    terms.address = address
    terms.note = "filename ‘ä\u{1F642}’"
    let session = try UploadSession(terms, limits: limits, at: Date(timeIntervalSince1970: time))
    return UploadRow(session)
  }

  @Test(arguments: UploadRowsKind.allCases)
  func `a row is read as it was written, and listed without its tail`(kind: UploadRowsKind) async throws {
    try await kind.withRows { rows in
      var row = try Self.row()
      try await rows.create(row, limits: Self.limits)
      #expect(try await rows.row(row.session.id) == row)
      let lease = try await rows.lease(row.session.id)
      for contents: UploadObject.Contents in [
        .parts(upload: "2~a/b+c", [], lastNumber: 1),
        .parts(
          upload: "2~a/b+c",
          [
            .init(number: 1, version: "9b2c-1", size: 5 << 20),
            .init(number: 2, version: "1", size: 7, isUnrecorded: true),
            .init(number: 3, version: "\"", size: 1),
          ],
          lastNumber: 10_000),
        .whole(length: 1 << 40), .none,
      ] {
        row.object.contents = contents
        row.tail = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        row.session.advance(to: row.session.offset + 7, at: Date(timeIntervalSince1970: 1_800_000_001.25))
        #expect(try await rows.update(row, under: lease, for: Self.long))
        #expect(try await rows.row(row.session.id) == row)
        #expect(try await rows.session(row.session.id) == row.session)
        #expect(try await rows.rows() == [UploadRow(row.session, row.object)])
      }
      row.session.beginPublishing(.of([1]), as: SnapshotID())
      row.session.end(.refused(UploadRefusal(.conflict, "It’s taken.")), at: Date())
      #expect(try await rows.update(row, under: lease, for: .zero))
      guard case .taken(let read, _) = try await rows.take(row.session.id, by: SnapshotID(), for: .zero)
      else {
        Issue.record("the lease has not ended")
        return
      }
      #expect(read == row)
    }
  }

  @Test(arguments: UploadRowsKind.allCases)
  func `an upload that does not exist has no row and no lease`(kind: UploadRowsKind) async throws {
    try await kind.withRows { rows in
      let id = UploadID()
      let lease = UploadLease(upload: id, epoch: 1)
      #expect(try await rows.row(id) == nil)
      #expect(try await rows.session(id) == nil)
      #expect(try await rows.rows().isEmpty)
      #expect(try await rows.take(id, by: SnapshotID(), for: .zero) == .unknown)
      #expect(try await !rows.renew(lease, for: .zero))
      #expect(try await !rows.remove(under: lease))
      let row = try Self.row()
      #expect(try await !rows.update(row, under: lease, for: .zero))
      #expect(try await rows.rows().isEmpty)
    }
  }

  @Test(arguments: UploadRowsKind.allCases)
  func `one holder has a lease at a time, until it ends`(kind: UploadRowsKind) async throws {
    try await kind.withRows { rows in
      let row = try Self.row()
      try await rows.create(row, limits: Self.limits)
      let (id, one, other) = (row.session.id, SnapshotID(), SnapshotID())
      let first = try await rows.lease(id, by: one, for: Self.long)
      guard case .held(let rest) = try await rows.take(id, by: other, for: Self.long) else {
        Issue.record("two holders have a lease")
        return
      }
      #expect(rest > .seconds(3000) && rest <= Self.long)
      // The holder itself gets a new one.
      let second = try await rows.lease(id, by: one, for: Self.long)
      #expect(second.epoch > first.epoch)
      #expect(try await rows.renew(second, for: .zero))
      let third = try await rows.lease(id, by: other, for: .zero)
      #expect(third.epoch > second.epoch)
      // A lease that has ended is still the latest one, and can be renewed.
      #expect(try await rows.renew(third, for: Self.long))
      guard case .held = try await rows.take(id, by: one, for: Self.long) else {
        Issue.record("two holders have a lease")
        return
      }
    }
  }

  @Test(arguments: UploadRowsKind.allCases)
  func `a lease that was taken over changes nothing`(kind: UploadRowsKind) async throws {
    try await kind.withRows { rows in
      var row = try Self.row()
      try await rows.create(row, limits: Self.limits)
      let id = row.session.id
      let old = try await rows.lease(id, for: .zero)
      let new = try await rows.lease(id, for: Self.long)
      row.tail = [1]
      #expect(try await !rows.update(row, under: old, for: Self.long))
      #expect(try await !rows.renew(old, for: .zero))
      #expect(try await !rows.remove(under: old))
      #expect(try await rows.row(id)?.tail == [])
      guard case .held = try await rows.take(id, by: SnapshotID(), for: .zero) else {
        Issue.record("an old lease has ended a new one")
        return
      }
      #expect(try await rows.update(row, under: new, for: Self.long))
      #expect(try await rows.row(id) == row)
      #expect(try await rows.remove(under: new))
      #expect(try await rows.row(id) == nil)
    }
  }

  @Test(arguments: UploadRowsKind.allCases)
  func `of racing holders, one takes the lease`(kind: UploadRowsKind) async throws {
    try await kind.withRows { rows in
      let row = try Self.row()
      try await rows.create(row, limits: Self.limits)
      let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 0..<16 {
          group.addTask {
            if case .taken = try await rows.take(row.session.id, by: SnapshotID(), for: Self.long) {
              true
            } else {
              false
            }
          }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(taken == 1)
    }
  }

  @Test(arguments: UploadRowsKind.allCases)
  func `open uploads are limited in total, for each owner and for each address`(kind: UploadRowsKind)
    async throws
  {
    try await kind.withRows { rows in
      var limits = UploadLimits()
      (limits.open, limits.openPerOwner, limits.openPerAddress) = (4, 2, 3)
      func create(_ owner: String?, _ address: String?) async throws -> String? {
        let row = try Self.row(owner: owner, address: address)
        return await uploadFailure { try await rows.create(row, limits: limits) }
      }
      #expect(try await create("a", "x") == nil)
      #expect(try await create("a", "x") == nil)
      #expect(try await create("a", "y") == "tooManyOpen")
      #expect(try await create(nil, "x") == nil)
      #expect(try await create("b", "x") == "tooManyOpen")
      #expect(try await create(nil, nil) == nil)
      #expect(try await create("b", nil) == "tooManyOpen")
      // An upload that has ended is not open.
      var row = try #require(try await rows.rows().first { $0.session.terms.owner == "a" })
      let lease = try await rows.lease(row.session.id)
      row.session.end(.published(SnapshotID(), isNew: true), at: Date())
      #expect(try await rows.update(row, under: lease, for: .zero))
      #expect(try await create("a", "x") == nil)
    }
  }

  @Test(arguments: UploadRowsKind.allCases)
  func `concurrent creations do not exceed the limits together`(kind: UploadRowsKind) async throws {
    try await kind.withRows { rows in
      var limits = UploadLimits()
      limits.open = 5
      let count = limits.open
      let made = try (0..<20).map { number in try Self.row(owner: "\(number)") }
      await withTaskGroup { [limits] group in
        for row in made {
          group.addTask {
            let word = await uploadFailure { try await rows.create(row, limits: limits) }
            #expect(word == nil || word == "tooManyOpen")
          }
        }
      }
      #expect(try await rows.rows().count == count)
    }
  }

  @Test(arguments: UploadRowsKind.allCases)
  func `of the ended uploads, those that ended last are remembered`(kind: UploadRowsKind) async throws {
    try await kind.withRows { rows in
      var limits = UploadLimits()
      limits.remembered = 2
      var ended: [UploadID] = []
      for number in 0..<5 {
        var row = try Self.row()
        try await rows.create(row, limits: limits)
        let lease = try await rows.lease(row.session.id)
        row.session.end(
          .published(SnapshotID(), isNew: true),
          at: Date(timeIntervalSince1970: 1_800_000_010 + Double(number)))
        #expect(try await rows.update(row, under: lease, for: .zero))
        ended.append(row.session.id)
      }
      let open = try Self.row()
      try await rows.create(open, limits: limits)
      let left = try await rows.rows().map(\.session.id)
      #expect(Set(left) == Set(ended[3...] + [open.session.id]))
    }
  }
}

extension UploadRows {
  /// Takes a lease that nobody has.
  fileprivate func lease(
    _ id: UploadID, by holder: SnapshotID = SnapshotID(), for duration: Duration = .zero
  ) async throws -> UploadLease {
    guard case .taken(_, let lease) = try await take(id, by: holder, for: duration) else {
      throw StoreError.notFound
    }
    return lease
  }
}
