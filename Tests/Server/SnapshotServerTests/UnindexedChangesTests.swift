import FileStore
import Foundation
import Logging
import S3Client
import S3Store
import S3Testing
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import SnapshotService
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// Servers that share a store end at any moment: what they did not index is found without reading every record.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct UnindexedChangesTests {
  /// What the servers share.
  private struct Servers {
    let objects: FakeS3Server
    let intents = InMemoryChangeIntents()
    let catalog = FailingCatalog()
    private let folder: TemporaryFolder

    init(_ objects: FakeS3Server) throws {
      self.objects = objects
      folder = try TemporaryFolder()
    }

    /// Starts one more server, which serves no port and runs no task by itself.
    func start() async throws -> ServerApplication {
      let settings = ServerSettings(port: 0, storage: folder.file("\(SnapshotID())").path)
      let storage = try await ServerStorage.open(
        settings, in: .of(objects), rows: InMemoryUploadRows(), catalog: catalog, intents: intents,
        lock: SoleServer(), logger: .quiet)
      let application = ServerApplication(settings, storage: storage, logger: .quiet)
      await application.indexer.prepare(storeIsEmpty: false, isReconciled: storage.isReconciled)
      return application
    }

    /// Lets the database answer, or not.
    func setDatabase(isAvailable: Bool) {
      intents.isAvailable = isAvailable
      catalog.isFailing.set(!isAvailable)
      catalog.isUnavailable.set(!isAvailable)
    }

    /// Lets so much time pass that a server counts as ended that has not answered.
    func wait() {
      let limits = ChangeJournal.Limits()
      intents.age(by: limits.overdueIntents + .seconds(1))
      objects.age(by: limits.overdueMarks / .seconds(1) + 1)
    }

    /// Lets the server that maintains the store index what others left.
    func takeOver(_ server: ServerApplication) async throws {
      server.indexer.takeOver()
      try await server.indexer.update()
    }

    var listed: Set<SnapshotID> {
      get async throws {
        Set(try await catalog.page(CatalogQuery(), PageRequest(limit: 1000)).records.map(\.id))
      }
    }

    var marks: [String] { objects.keys.filter { $0.hasPrefix("unindexed/") } }

    /// How many records were read since `start` requests were sent.
    func reads(since start: Int) -> Int {
      objects.calls[start...].count { $0.method == "GET" && $0.key.hasPrefix("records/") }
    }

    /// How many times ids were listed since `start` requests were sent.
    func lists(since start: Int) -> Int {
      objects.calls[start...].count { $0.method == "GET" && $0.key.isEmpty }
    }
  }

  private func withServers(_ body: (Servers) async throws -> Void) async throws {
    try await withFakeS3 { objects in
      let servers = try Servers(objects)
      try await servers.catalog.complete(generation: 0)
      try await body(servers)
    }
  }

  /// Attaches a bundle in the store of a server, which then ends before it indexes it.
  private func attachOnly(_ server: ServerApplication, _ text: String = "") async throws -> SnapshotID {
    try await attach(to: server.storage.store, text)
  }

  private func attach(to store: any UploadStore, _ text: String = "") async throws -> SnapshotID {
    let bundle = try ZippedSample(text)
    let upload = try await store.beginUpload()
    try await upload.append(IOBuffer(bundle.bytes[...]))
    return try await upload.commit(Attachment(report: ReportID(validating: "BUG-1"))).record.id
  }

  /// Attaches a bundle as a request does.
  private func attach(_ server: ServerApplication, _ text: String = "") async throws -> SnapshotID {
    let id = try await attachOnly(server, text)
    try await server.indexer.reconciled.insert(try await server.storage.store.record(id))
    return id
  }

  @Test func `a server starts without reading the records of the store`() async throws {
    try await withServers { servers in
      let first = try await servers.start()
      let ids = try await [attach(first, "1"), attach(first, "2"), attach(first, "3")]
      await first.close()
      #expect(servers.intents.all.isEmpty)
      let before = servers.objects.calls.count
      let second = try await servers.start()
      #expect(second.indexer.progress == .ready && second.indexer.comparison == nil)
      try await servers.takeOver(second)
      #expect(servers.reads(since: before) == 0)
      #expect(try await servers.listed == Set(ids))
      await second.close()
    }
  }

  @Test func `a server ends before it attaches a bundle: its intent is removed, and the UUID can be used`()
    async throws
  {
    try await withServers { servers in
      let (one, other) = (try await servers.start(), try await servers.start())
      let bundle = try ZippedSample()
      try await one.storage.journal?.prepare(ChangeIntent(SnapshotID(), of: bundle.id))
      #expect(servers.intents.all.count == 1)
      servers.wait()
      try await servers.takeOver(other)
      #expect(servers.intents.all.isEmpty)
      let upload = try await other.storage.store.beginUpload()
      try await upload.append(IOBuffer(bundle.bytes[...]))
      let record = try await upload.commit(Attachment(report: ReportID(validating: "BUG-1"))).record
      try await other.indexer.reconciled.insert(record)
      #expect(try await servers.listed == [bundle.id])
    }
  }

  @Test func `a server ends before it indexes what it attached, changed or deleted`() async throws {
    try await withServers { servers in
      let (one, other) = (try await servers.start(), try await servers.start())
      let (pinned, deleted) = (try await attach(one, "1"), try await attach(one, "2"))
      let attached = try await attachOnly(one, "3")
      try await one.storage.store.change(RecordChange(isPinned: true), of: pinned)
      try await one.storage.store.delete(deleted)
      // A server that only is slow keeps its changes to itself.
      try await servers.takeOver(other)
      #expect(try await servers.listed == [pinned, deleted])
      servers.wait()
      let before = servers.objects.calls.count
      try await servers.takeOver(other)
      let records = try await servers.catalog.page(CatalogQuery(), PageRequest()).records
      #expect(Set(records.map(\.id)) == [attached, pinned])
      #expect(records.first { $0.id == pinned }?.isPinned == true)
      #expect(servers.intents.all.isEmpty)
      #expect(servers.lists(since: before) == 1)
    }
  }

  @Test(arguments: [true, false])
  func `a server that starts again indexes what it left, with or without a database before`(hasIntent: Bool)
    async throws
  {
    try await withServers { servers in
      let one = try await servers.start()
      let former = try await attach(one, "1")
      if !hasIntent { servers.setDatabase(isAvailable: false) }
      let attached = try await attachOnly(one, "2")
      // Nothing is deleted without an intent: other servers would still send it.
      if hasIntent { try await one.storage.store.delete(former) }
      servers.setDatabase(isAvailable: true)
      let (intents, marks) = (servers.intents.all, servers.marks)
      #expect(marks.isEmpty == hasIntent)
      let again = try await servers.start()
      try await again.indexer.update()
      #expect(try await servers.listed == (hasIntent ? [attached] : [former, attached]))
      // A write of the server that ended can still arrive.
      #expect(servers.intents.all == intents && servers.marks == marks)
      #expect(again.indexer.comparison == nil)
    }
  }

  @Test func `a server ends before it removes the intent of what it indexed`() async throws {
    try await withServers { servers in
      let (one, other) = (try await servers.start(), try await servers.start())
      let id = try await attach(one)
      #expect(servers.intents.all.map(\.snapshot) == [id])
      servers.wait()
      try await servers.takeOver(other)
      #expect(servers.intents.all.isEmpty)
      #expect(try await servers.listed == [id])
    }
  }

  @Test func `a server keeps the intent of its change when another one indexes the same snapshot`()
    async throws
  {
    try await withServers { servers in
      let (one, other) = (try await servers.start(), try await servers.start())
      let id = try await attach(one)
      try await one.indexer.update()
      #expect(servers.intents.all.isEmpty)
      try await one.storage.store.change(RecordChange(isPinned: true), of: id)
      let intents = servers.intents.all
      try await other.service.change(RecordChange(end: .at(Date(timeIntervalSince1970: 4e9))), of: id)
      try await other.indexer.update()
      #expect(servers.intents.all == intents)
    }
  }

  @Test func `a server ends while the database does not answer: all records are compared, later`()
    async throws
  {
    try await withServers { servers in
      let (one, other) = (try await servers.start(), try await servers.start())
      servers.setDatabase(isAvailable: false)
      let before = servers.objects.calls.count
      let ids = try await [attach(one, "1"), attach(one, "2")]
      let calls = servers.objects.calls[before...]
      #expect(servers.marks.count == 1)
      let marked = try #require(calls.firstIndex { $0.method == "PUT" && $0.key == servers.marks[0] })
      let written = try #require(calls.firstIndex { $0.method == "PUT" && $0.key.hasPrefix("records/") })
      #expect(marked < written)
      servers.setDatabase(isAvailable: true)
      try await servers.takeOver(other)
      #expect(try await servers.listed.isEmpty && servers.marks.count == 1)
      servers.wait()
      try await servers.takeOver(other)
      #expect(try await servers.listed == Set(ids))
      #expect(servers.marks.isEmpty && other.indexer.comparison == nil)
    }
  }

  @Test func `a mark remains if the catalogue was replaced while its records were compared`() async throws {
    try await withServers { servers in
      let (one, other) = (try await servers.start(), try await servers.start())
      servers.setDatabase(isAvailable: false)
      let id = try await attachOnly(one)
      servers.setDatabase(isAvailable: true)
      servers.wait()
      servers.catalog.beforeLists { [catalog = servers.catalog] _ in
        catalog.beforeLists(nil)
        await #expect(throws: Never.self) {
          try await catalog.clear()
          try await catalog.complete(generation: 1)
        }
      }
      try await servers.takeOver(other)
      #expect(servers.marks.count == 1)
      try await servers.takeOver(other)
      #expect(try await servers.listed == [id])
      #expect(servers.marks.isEmpty)
    }
  }

  @Test func `a store that was filled by a migration is compared with the index of an earlier store`()
    async throws
  {
    try await withServers { servers in
      let folder = try TemporaryFolder()
      let storage = folder.file("storage").path
      let former = try await FileBundleStore.open(
        FileBundleStore.Configuration(path: storage, validator: UploadValidator(), reserve: 0), logger: .quiet
      )
      let kept = try await attach(to: former)
      _ = await former.close()
      try await servers.catalog.insert([StoreTesting.record()])
      let store = MigratedStore(try .of(servers.objects), scratch: folder.url.path)
      let source = try FolderSource(storage)
      let target = try await S3MigrationTarget.open(store, origin: try await source.identity)
      let report = try await SnapshotMigration(from: source, to: target).finish(leavingLosses: false)
      #expect(report.copiedBundles == 1 && servers.marks.count == 1)
      let server = try await servers.start()
      try await servers.takeOver(server)
      #expect(try await servers.listed == [kept])
      #expect(servers.marks.isEmpty && server.indexer.comparison == nil)
    }
  }

  @Test func `a server that continues after the database did not answer indexes its own changes`()
    async throws
  {
    try await withServers { servers in
      let server = try await servers.start()
      let former = try await attach(server, "1")
      servers.setDatabase(isAvailable: false)
      var ids = [try await attach(server, "2")]
      await #expect(throws: CatalogError.self) { try await server.indexer.update() }
      ids.append(try await attach(server, "3"))
      #expect(try await server.service.change(RecordChange(isPinned: true), of: former).isPinned)
      servers.setDatabase(isAvailable: true)
      let before = servers.objects.calls.count
      try await server.indexer.update()
      #expect(try await servers.listed == Set(ids + [former]))
      #expect(servers.lists(since: before) == 0)
      #expect(servers.marks.isEmpty)
      try await server.indexer.update()
      #expect(servers.intents.all.isEmpty)
    }
  }

  @Test func `nothing is attached if neither the database nor the store remembers it`() async throws {
    try await withServers { servers in
      let server = try await servers.start()
      servers.setDatabase(isAvailable: false)
      servers.objects.inject {
        $0.key.hasPrefix("unindexed/") ? .refused(status: 403, code: "AccessDenied") : nil
      }
      #expect(await failure { _ = try await attachOnly(server) } == "unavailable")
      #expect(!servers.objects.keys.contains { $0.hasPrefix("records/") })
      servers.objects.inject(nil)
      _ = try await attachOnly(server)
      #expect(servers.marks.count == 1)
    }
  }

  @Test func `a change whose outcome is unknown is found under its intent`() async throws {
    try await withServers { servers in
      let (one, other) = (try await servers.start(), try await servers.start())
      let bundle = try ZippedSample()
      let upload = try await one.storage.store.beginUpload()
      try await upload.append(IOBuffer(bundle.bytes[...]))
      servers.objects.loseNextRecord()
      #expect(
        await failure { _ = try await upload.commit(Attachment(report: ReportID(validating: "BUG-1"))) }
          == "unavailable")
      servers.objects.inject(nil)
      #expect(servers.intents.all.map(\.snapshot) == [bundle.id])
      try await one.indexer.update()
      servers.wait()
      try await servers.takeOver(other)
      #expect(try await servers.listed == [bundle.id])
    }
  }

  @Test(arguments: [true, false])
  func `a change of a bundle whose outcome is unknown is found under its intent`(isDeletion: Bool)
    async throws
  {
    try await withServers { servers in
      let (one, other) = (try await servers.start(), try await servers.start())
      let id = try await attach(one)
      try await one.indexer.update()
      #expect(servers.intents.all.isEmpty)
      servers.objects.loseNextRecord()
      let store = one.storage.store
      let word = await failure {
        if isDeletion {
          try await store.delete(id)
        } else {
          try await store.change(RecordChange(isPinned: true), of: id)
        }
      }
      #expect(word == "unavailable")
      servers.objects.inject(nil)
      try await one.indexer.update()
      #expect(servers.intents.all.map(\.snapshot) == [id])
      servers.wait()
      try await servers.takeOver(other)
      let records = try await servers.catalog.page(CatalogQuery(), PageRequest()).records
      #expect(records.map(\.id) == (isDeletion ? [] : [id]))
      #expect(!records.contains { !$0.isPinned })
      #expect(servers.intents.all.isEmpty)
    }
  }

  @Test func `a change that is executed late is found under its intent, although its repetition was refused`()
    async throws
  {
    try await withServers { servers in
      let (one, other) = (try await servers.start(), try await servers.start())
      let id = try await attach(one)
      try await one.indexer.update()
      let writes = Lock(0)
      servers.objects.inject { call in
        guard call.method == "PUT", call.key.hasPrefix("records/") else { return nil }
        let isFirst = writes.add(1) - 1 == 0
        return isFirst ? .delayed : .refused(status: 403, code: "AccessDenied")
      }
      let word = await failure { try await one.storage.store.change(RecordChange(isPinned: true), of: id) }
      #expect(word == "unavailable")
      servers.objects.inject(nil)
      try await one.indexer.update()
      #expect(servers.intents.all.map(\.snapshot) == [id])
      servers.wait()
      try await servers.takeOver(other)
      let records = try await servers.catalog.page(CatalogQuery(), PageRequest()).records
      #expect(records.map(\.isPinned) == [true])
    }
  }

  @Test func `nothing is deleted without an intent, and no mark is made for it`() async throws {
    try await withServers { servers in
      let server = try await servers.start()
      let id = try await attach(server)
      servers.setDatabase(isAvailable: false)
      #expect(await failure { try await server.storage.store.delete(id) } == "unavailable")
      #expect(servers.marks.isEmpty)
      // A mark that was made for another change is not enough either.
      try await server.storage.store.change(RecordChange(isPinned: true), of: id)
      #expect(servers.marks.count == 1)
      #expect(await failure { try await server.storage.store.delete(id) } == "unavailable")
      #expect(try await server.storage.store.record(id).isPinned)
    }
  }

  @Test func `a mark remains while a change relies on it`() async throws {
    try await withServers { servers in
      let server = try await servers.start()
      let journal = try #require(server.storage.journal)
      servers.intents.isAvailable = false
      try await journal.prepare(ChangeIntent(SnapshotID(), of: SnapshotID()))
      #expect(servers.marks.count == 1)
      let intents = servers.intents
      let late = ChangeIntent(SnapshotID(), of: SnapshotID())
      intents.isAvailable = true
      intents.duringNextWrite {
        intents.isAvailable = false
        await #expect(throws: Never.self) { try await journal.prepare(late) }
        intents.isAvailable = true
      }
      try await journal.flush()
      #expect(servers.marks.count == 1 && !intents.all.contains(late))
      try await journal.flush()
      #expect(servers.marks.isEmpty && intents.all.contains(late))
    }
  }

}

extension FakeS3Server {
  /// Lets the next record be written, which is not answered, and can't be read then.
  fileprivate func loseNextRecord() {
    let wasWritten = Lock(false)
    inject { call in
      guard call.key.hasPrefix("records/") else { return nil }
      if call.method == "PUT" {
        wasWritten.set(true)
        return .failedAfterwards
      }
      return wasWritten.value
        ? .refused(status: 500, code: "InternalError") : nil
    }
  }
}
