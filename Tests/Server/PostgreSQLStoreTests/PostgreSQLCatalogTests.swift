import Dispatch
import Foundation
import PostgreSQLStore
import PostgreSQLClient
import PostgreSQLTesting
import SnapshotFormat
import SnapshotStore
import StoreTesting
import TestSupport
import Testing

/// What ``CatalogConformance`` does not test: several servers, and the build of the index.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed"))
struct PostgreSQLCatalogTests {
  private func open(_ configuration: PostgreSQLConfiguration) async throws -> PostgreSQLCatalog {
    // Few, so that most searches also use the index of the terms.
    try await PostgreSQLCatalog.open(configuration, checkedRows: 8)
  }

  private func complete(_ catalog: PostgreSQLCatalog) async throws {
    try await catalog.complete(generation: try await catalog.state().generation)
  }

  /// All records of a query, by pages of `limit`. Also counts them in every other way.
  private func all(
    _ query: CatalogQuery = CatalogQuery(), of catalog: PostgreSQLCatalog, limit: Int = 10
  ) async throws -> [SnapshotRecord] {
    var records: [SnapshotRecord] = []
    var request = PageRequest(limit: limit)
    repeat {
      let page = try await catalog.page(query, request)
      records += page.records
      request.cursor = page.next
    } while request.cursor != nil
    #expect(try await catalog.total(query) == CatalogTotal(count: records.count))
    let activity = try await catalog.activity(query, days: 0...365)
    #expect(activity.days.reduce(0) { $0 + $1.count } == records.count)
    #expect(activity.days.reduce(0) { $0 + $1.bytes } == records.reduce(0) { $0 + $1.size })
    return records
  }

  private func newestFirst(_ records: some Sequence<SnapshotRecord>) -> [SnapshotRecord] {
    records.map(\.listed).sorted { Cursor(after: $0) > Cursor(after: $1) }
  }

  @Test func `servers that change the same records at once agree on the result`() async throws {
    try await withDatabase { configuration in
      let servers = try await [open(configuration), open(configuration), open(configuration)]
      defer { for server in servers { server.close() } }
      for server in servers { try await complete(server) }
      let records = try (0..<60).map { number in
        try record(at: Double(number), report: "BUG-\(number % 3)") { $0.verified = .pending }
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for server in servers {
          group.addTask {
            for record in records.shuffled() {
              var settled = record
              settled.verified = .intact
              try await server.insert([settled, record].shuffled())
            }
          }
          group.addTask { try await server.insert(records.shuffled()) }
          group.addTask {
            for record in records.filter({ $0.report.description == "BUG-0" }) {
              try await server.remove(record.id)
            }
          }
        }
        try await group.waitForAll()
      }
      let expected = newestFirst(
        records.filter { $0.report.description != "BUG-0" }.map { record in
          var record = record
          record.verified = .intact
          return record
        })
      for server in servers { #expect(try await all(of: server) == expected) }
    }
  }

  @Test func `records that arrive late are listed in their places`() async throws {
    try await withDatabase { configuration in
      let catalog = try await open(configuration)
      defer { catalog.close() }
      try await complete(catalog)
      var records: [SnapshotRecord] = []
      for number in 0..<100 {
        let next = try record(at: Double(number)) { $0.metadata = ["note": number % 2 == 0 ? "even" : "odd"] }
        records.append(next)
        try await catalog.insert(next)
      }
      for number in 0..<30 {
        let late = try record(at: Double(number * 3) + 0.5) { $0.metadata = ["note": "late even"] }
        records.append(late)
        try await catalog.insert(late)
      }
      #expect(try await all(of: catalog) == newestFirst(records))
      for (text, limit) in [("even", 1), ("odd", 7), ("late", 100), ("ev", 3), ("eve od", 5)] {
        var query = CatalogQuery()
        query.text = text
        let expected = records.filter { record in
          text.split(separator: " ").allSatisfy { word in
            (record.metadata["note"] ?? "").split(separator: " ").contains { $0.hasPrefix(word) }
          }
        }
        #expect(try await all(query, of: catalog, limit: limit) == newestFirst(expected), "\(text)")
      }
      var query = CatalogQuery()
      query.after = Date(timeIntervalSince1970: 20.5)
      query.before = Date(timeIntervalSince1970: 60)
      let expected = records.filter { (20.5..<60).contains($0.receivedAt.timeIntervalSince1970) }
      #expect(try await all(query, of: catalog) == newestFirst(expected))
    }
  }

  @Test func `records can be replaced, moved and removed`() async throws {
    try await withDatabase { configuration in
      let catalog = try await open(configuration)
      defer { catalog.close() }
      try await complete(catalog)
      var records = try (0..<60).map { try record(at: Double($0)) { $0.metadata = ["note": "first"] } }
      try await catalog.insert(records)
      for index in stride(from: 0, to: 50, by: 5) {
        records[index].metadata = ["note": "second"]
        records[index].size = 77
        records[index + 1].receivedAt = Date(timeIntervalSince1970: Double(index) + 0.25)
        records[index + 2].isPinned = true
        for changed in records[index...index + 2] { try await catalog.insert(changed) }
        try await catalog.remove(records[index + 3].id)
      }
      let left = records.enumerated().filter { $0.offset >= 50 || $0.offset % 5 != 3 }.map(\.element)
      #expect(try await all(of: catalog) == newestFirst(left))
      for text in ["first", "second"] {
        var query = CatalogQuery()
        query.text = text
        #expect(
          try await all(query, of: catalog) == newestFirst(left.filter { $0.metadata == ["note": text] }))
      }
    }
  }

  @Test func `an index is built while other servers change records`() async throws {
    try await withDatabase { configuration in
      let (builder, other) = try await (open(configuration), open(configuration))
      defer { for server in [builder, other] { server.close() } }
      var records = try (0..<400).map { try record(at: Double($0)) }
      try await builder.insert(records)
      await #expect { try await other.page(CatalogQuery(), PageRequest()) } throws: { error in
        guard case .incomplete? = error as? CatalogError else { return false }
        return true
      }
      let added = try (0..<40).map { try record(at: Double($0 * 10) + 0.5) }
      async let built: Void = complete(builder)
      for index in 0..<40 {
        try await other.insert(added[index])
        try await other.remove(records[index * 10].id)
        records[index * 10 + 1].metadata = ["note": "changed"]
        try await other.insert(records[index * 10 + 1])
      }
      try await built
      try await complete(other)
      let left = records.enumerated().filter { $0.offset % 10 != 0 }.map(\.element) + added
      for server in [builder, other] { #expect(try await all(of: server, limit: 100) == newestFirst(left)) }
      var query = CatalogQuery()
      query.text = "changed"
      #expect(try await all(query, of: other).count == 40)
    }
  }

  @Test func `records that are removed or changed after the build has read them are not counted twice`()
    async throws
  {
    try await withDatabase { configuration in
      let (catalog, admin) = (try await open(configuration), PostgreSQLPool(configuration))
      defer {
        catalog.close()
        admin.close()
      }
      var records = try (0..<40).map { try record(at: Double($0)) { $0.metadata = ["note": "first"] } }
      try await catalog.insert(records)
      // The build waits at its end for everyone who sees an older state of the database.
      let (isHeld, isReleased) = (Signal(), DispatchSemaphore(value: 0))
      let holder = Task {
        try await admin.transaction(.snapshot) { connection throws in
          _ = try connection.query("SELECT 1")
          isHeld.fire()
          isReleased.wait()
        }
      }
      await isHeld.wait()
      async let built: Void = complete(catalog)
      try await eventually {
        try await admin.perform { connection throws in
          try !connection.query(
            """
            SELECT 1 FROM pg_stat_progress_create_index
            WHERE datname = current_database() AND phase = 'waiting for old snapshots'
            """
          ).isEmpty
        }
      }
      let removed = records.remove(at: 3)
      try await catalog.remove(removed.id)
      records[20].metadata = ["note": "second"]
      try await catalog.insert(records[20])
      isReleased.signal()
      try await built
      try await holder.value
      #expect(try await all(of: catalog) == newestFirst(records))
      for text in ["first", "second"] {
        var query = CatalogQuery()
        query.text = text
        let expected = records.filter { $0.metadata == ["note": text] }
        #expect(try await all(query, of: catalog) == newestFirst(expected))
      }
    }
  }

  @Test func `an index is built from the start after an attempt that ended in the middle`() async throws {
    try await withDatabase { configuration in
      let (catalog, admin) = (try await open(configuration), PostgreSQLPool(configuration))
      defer {
        catalog.close()
        admin.close()
      }
      var records = try (0..<40).map { try record(at: Double($0)) }
      try await catalog.insert(Array(records[..<30]))
      // What such an attempt leaves.
      try await admin.perform {
        try $0.execute(
          """
          SET search_path = snapshot_catalog_1;
          CREATE INDEX terms ON snapshot USING gin (terms);
          UPDATE pg_index SET indisvalid = false, indisready = false WHERE indexrelid = 'terms'::regclass
          """)
      }
      records[0].metadata = ["note": "changed"]
      try await catalog.insert([records[0]] + records[30...])
      try await complete(catalog)
      #expect(try await all(of: catalog) == newestFirst(records))
      #expect(try await all(CatalogQuery(report: .sample), of: catalog) == newestFirst(records))
    }
  }

  @Test func `a removed record does not return after many others were inserted`() async throws {
    try await withDatabase { configuration in
      let catalog = try await open(configuration)
      defer { catalog.close() }
      try await complete(catalog)
      let removed = try record(at: 1)
      try await catalog.insert(removed)
      try await catalog.remove(removed.id)
      let records = try (0..<40).map { try record(at: Double($0)) }
      for record in records { try await catalog.insert(record) }
      try await catalog.insert(removed)
      #expect(try await all(of: catalog) == newestFirst(records))
    }
  }

  @Test func `servers that complete an index at the same time build it once`() async throws {
    try await withDatabase { configuration in
      let servers = try await [open(configuration), open(configuration), open(configuration)]
      defer { for server in servers { server.close() } }
      let records = try (0..<200).map { try record(at: Double($0)) }
      try await servers[0].insert(records)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for server in servers { group.addTask { try await complete(server) } }
        try await group.waitForAll()
      }
      for server in servers { #expect(try await all(of: server, limit: 100) == newestFirst(records)) }
    }
  }

  @Test func `the state is common to all servers`() async throws {
    try await withDatabase { configuration in
      let first = try await open(configuration)
      defer { first.close() }
      try await complete(first)
      try await first.insert(try record(at: 1))
      #expect(try await first.state().extent == .everything)
      let second = try await open(configuration)
      defer { second.close() }
      let state = try await second.state()
      #expect(state == (try await first.state()))
      #expect(try await all(of: second).count == 1)
      try await second.clear()
      #expect(try await first.state().generation == state.generation + 1)
      #expect(try await first.state().extent == .nothing)
      try await first.complete(generation: state.generation)
      #expect(try await first.state().extent == .nothing)
    }
  }

  @Test(arguments: [true, false])
  func `a database that does not answer delays one change, and is not asked again before a pause has ended`(
    isLong: Bool
  ) async throws {
    let server = try await PostgreSQLServer()
    var configuration = try server.configuration()
    if isLong { configuration.pause = .seconds(3600)...Duration.seconds(3600) }
    let catalog = try await open(configuration)
    let prompt = catalog.promptly()
    defer {
      prompt.close()
      catalog.close()
    }
    try await complete(catalog)
    let records = try (0..<20).map { try record(at: Double($0)) }
    try await prompt.insert(records[0])
    // The server stops to answer, and keeps its connections open.
    try server.pause()
    let first = await ContinuousClock().measure {
      await #expect(throws: CatalogError.self) { try await prompt.insert(records[1]) }
    }
    // Far from what is measured, because the machine can be busy.
    #expect(first < configuration.statementTimeout)
    try server.resume()
    if isLong {
      // The server would answer.
      for record in records[2...] {
        await #expect(throws: CatalogError.self) { try await prompt.insert(record) }
      }
    } else {
      try await eventually { await failure({ try await prompt.insert(records[1]) }) == nil }
      #expect(try await all(of: catalog) == newestFirst(records[...1]))
    }
    await server.stop()
  }

  @Test func `while the database cannot be reached, every call fails`() async throws {
    let configuration = try PostgreSQLConfiguration(uri: "postgres://tests:secret@127.0.0.1:1/x")
    let failure = await #expect(throws: CatalogError.self) { try await PostgreSQLCatalog.open(configuration) }
    guard case .unavailable(let reason) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(!reason.contains("secret"))
  }
}
