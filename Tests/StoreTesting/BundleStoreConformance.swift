import FileStore
import Foundation
import Logging
import S3Client
import S3Store
import S3Testing
import SnapshotFormat
package import SnapshotStore
import SystemIO
import TestSupport
import Testing

/// The bundle stores that the conformance tests run with.
package enum StoreKind: CaseIterable, Sendable {
  /// `objects` is an object store in memory, and `ceph` a real one.
  case memory, files, objects, ceph

  package static let allCases: [StoreKind] =
    [.memory, .files, .objects] + (CephCluster.isInstalled ? [.ceph] : [])

  /// Runs `body` with an empty store.
  package func withStore(
    validator: UploadValidator = .samples,
    _ body: (any BundleStore & TransientUploadStore) async throws -> Void
  )
    async throws
  {
    switch self {
    case .memory:
      try await body(InMemoryStore(validator: validator))
    case .files:
      let folder = try TemporaryFolder()
      let store = try await FileBundleStore.open(
        .init(path: folder.path + "/Storage", validator: validator, reserve: 0), logger: Logger.quiet)
      try await body(store)
      await store.close()
      #expect(try Folder.entries(folder.path + "/Storage/uploads").isEmpty)
    case .objects:
      try await withFakeS3 { try await Self.withStore(try .of($0), validator, body) }
    case .ceph:
      let client = try await CephCluster.shared.client(prefix: UUID().uuidString)
      try await Self.withStore(client, validator, body)
    }
  }

  private static func withStore(
    _ client: S3Client, _ validator: UploadValidator,
    _ body: (any BundleStore & TransientUploadStore) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let store = try await S3BundleStore.open(
      .init(folder: folder.path + "/Node", validator: validator), client: client, rows: InMemoryUploadRows(),
      logger: Logger.quiet)
    try await body(store)
    await store.close()
    #expect(try Folder.entries(folder.path + "/Node") == ["lock"])
  }
}

/// The guarantees of ``BundleStore``, tested with every store.
@Suite struct BundleStoreConformance {
  @Test(arguments: StoreKind.allCases, [1, 7, 1 << 16])
  func `a committed bundle is read back unchanged`(kind: StoreKind, pieceSize: Int) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle(filling: "hello", count: pieceSize == 1 ? 10 : 200_000)
      let attachment = Attachment(
        report: .sample, id: sample.id, expected: sample.sha256, metadata: ["comment": "it ‘broke’"])
      let publication = try await store.upload(sample.bytes, as: attachment, pieceSize: pieceSize)
      guard case .created(let record) = publication else { throw StoreError.notFound }
      #expect(record.id == sample.id)
      #expect(record.report == .sample)
      #expect(record.size == Int64(sample.bytes.count))
      #expect(record.sha256 == sample.sha256)
      #expect(
        record.receivedAt == SnapshotJSON.milliseconds(of: Date(timeIntervalSince1970: 1_800_000_000.457)))
      #expect(record.modules == SampleBundle.manifest(sample.id).modules)
      #expect(record.metadata == ["comment": "it ‘broke’"])

      let bundle = try await store.open(sample.id)
      #expect(try bundle.contents == sample.bytes)
      #expect(bundle.record.sha256 == sample.sha256)
      var found = try await store.record(sample.id)
      // The result of its verification can be in the record already.
      (found.verified, found.revision) = (record.verified, record.revision)
      #expect(found == record)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `without an id, the manifest's id is used`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      let publication = try await store.upload(sample.bytes, as: Attachment(report: .sample))
      #expect(publication.record.id == sample.id)
      #expect(try await store.record(sample.id) == publication.record)
    }
  }

  @Test(arguments: StoreKind.allCases, ["published", "set aside", "deleted"])
  func `without an id, an id that is taken is replaced by a new one`(kind: StoreKind, state: String)
    async throws
  {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      try await store.upload(sample)
      switch state {
      case "set aside": try await store.setAside(sample.id)
      case "deleted": try await store.delete(sample.id)
      default: break
      }
      let report = try ReportID(validating: "BUG-124")
      let attachments = [
        Attachment(report: .sample), Attachment(report: .sample, expected: sample.sha256),
        Attachment(report: .sample, createOnly: true), Attachment(report: report),
      ]
      for attachment in attachments {
        let publication = try await store.upload(sample.bytes, as: attachment)
        guard case .created(let record) = publication else {
          Issue.record("answered as a repetition")
          return
        }
        #expect(record.id != sample.id && record.manifestID == sample.id)
        #expect(try await store.record(record.id).manifestID == sample.id)
        #expect(try await store.open(record.id).contents == sample.bytes)
      }
      let other = SampleBundle(id: sample.id, filling: "other")
      let record = try await store.upload(other.bytes, as: Attachment(report: .sample)).record
      #expect(record.id != sample.id && record.manifestID == sample.id)
      let first = await failure {
        let record = try await store.record(sample.id)
        #expect(record.manifestID == nil)
      }
      #expect(first == (state == "deleted" ? "deleted" : nil))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `of uploads at once without an id, exactly one gets the manifest's`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle(count: 1000)
      let records = try await withThrowingTaskGroup(of: SnapshotRecord.self) { group in
        for _ in 0..<12 {
          group.addTask { try await store.upload(sample.bytes, as: Attachment(report: .sample)).record }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(records.map(\.id)).count == 12)
      #expect(records.filter { $0.id == sample.id && $0.manifestID == nil }.count == 1)
      #expect(records.filter { $0.manifestID == sample.id }.count == 11)
      #expect(try await store.allRecords().count == 12)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an id chosen by the sender takes precedence over the manifest's`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let (sample, chosen) = (SampleBundle(), SnapshotID())
      let publication = try await store.upload(sample.bytes, as: Attachment(report: .sample, id: chosen))
      #expect(publication.record.id == chosen)
      #expect(publication.record.manifestID == sample.id)
      #expect(await failure { _ = try await store.record(sample.id) } == "notFound")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a record contains the id of the token that attached the bundle`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let (sample, other) = (SampleBundle(), SampleBundle())
      try await store.upload(sample.bytes, as: Attachment(report: .sample, attachedBy: "0123456789ab"))
      #expect(try await store.record(sample.id).attachedBy == "0123456789ab")
      try await store.upload(sample.bytes, as: Attachment(report: .sample, attachedBy: "ba9876543210"))
      #expect(try await store.record(sample.id).attachedBy == "0123456789ab")
      try await store.upload(other)
      #expect(try await store.record(other.id).attachedBy == nil)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a bundle of an application that is not allowed is refused`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      for applications in [[], ["com.example"], ["com.example.newsletter"]] as [Set<String>] {
        let attachment = Attachment(report: .sample, applications: applications)
        #expect(
          await failure { try await store.upload(sample.bytes, as: attachment) } == "foreignApplication")
      }
      #expect(try await store.allRecords().isEmpty)
      let attachment = Attachment(report: .sample, applications: ["com.example.news", "com.example.x"])
      #expect(try await store.upload(sample.bytes, as: attachment).record.id == sample.id)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `uploading the same bytes for the same report returns the existing record`(kind: StoreKind)
    async throws
  {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      let first = try await store.upload(sample)
      #expect(try await store.upload(sample) == .alreadyThere(first.record))
      #expect(await failure { try await store.upload(sample, createOnly: true) } == "alreadyExists")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a taken id is refused for other bytes and for another report`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      try await store.upload(sample)
      #expect(
        await failure { try await store.upload(SampleBundle(id: sample.id, filling: "other")) } == "conflict")
      let elsewhere = Attachment(report: try ReportID(validating: "BUG-124"), id: sample.id)
      #expect(await failure { try await store.upload(sample.bytes, as: elsewhere) } == "conflict")
      #expect(try await store.open(sample.id).contents == sample.bytes)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a deleted id is never used again`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      try await store.upload(sample)
      try await store.delete(sample.id)
      #expect(await failure { _ = try await store.record(sample.id) } == "deleted")
      #expect(await failure { _ = try await store.open(sample.id) } == "deleted")
      #expect(await failure { try await store.delete(sample.id) } == "deleted")
      let settled = RecordChange(verified: .intact)
      #expect(await failure { try await store.change(settled, of: sample.id) } == "deleted")
      #expect(await failure { try await store.upload(sample) } == "deleted")
      #expect(await failure { try await store.upload(sample, createOnly: true) } == "deleted")
      #expect(try await store.allRecords().isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an unknown id is not found`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let id = SnapshotID()
      #expect(await failure { _ = try await store.record(id) } == "notFound")
      #expect(await failure { _ = try await store.open(id) } == "notFound")
      #expect(await failure { try await store.delete(id) } == "notFound")
      #expect(await failure { try await store.change(RecordChange(verified: .intact), of: id) } == "notFound")
      #expect(await failure { _ = try await store.record(id) } == "notFound")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an open bundle remains readable while it is deleted`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle(count: 1000)
      try await store.upload(sample)
      let bundle = try await store.open(sample.id)
      try await store.delete(sample.id)
      #expect(try bundle.contents == sample.bytes)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a wrong digest is reported, and nothing is stored`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let (sample, other) = (SampleBundle(), SampleBundle())
      do {
        try await store.upload(
          sample.bytes, as: Attachment(report: .sample, id: sample.id, expected: other.sha256))
        Issue.record("published in spite of its digest")
      } catch StoreError.digestMismatch(let expected, let actual) {
        #expect(expected == other.sha256)
        #expect(actual == sample.sha256)
      }
      #expect(await failure { _ = try await store.record(sample.id) } == "notFound")
      guard case .created = try await store.upload(sample) else {
        Issue.record("the id was used up")
        return
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `bytes that are not a bundle are refused, and nothing is stored`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle(.broken)
      #expect(await failure { try await store.upload(sample, expected: true) } == "invalid")
      #expect(await failure { try await store.upload([], as: Attachment(report: .sample)) } == "invalid")
      #expect(try await store.allRecords().isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `without a digest, everything is checked before the answer`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      #expect(await failure { try await store.upload(SampleBundle(.damaged)) } == "invalid")
      #expect(try await store.upload(SampleBundle()).record.verified == .intact)
      #expect(try await store.upload(SampleBundle(), expected: true).record.verified == .pending)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a small bundle is checked completely before the answer`(kind: StoreKind) async throws {
    for (spare, verified) in [(-1, SnapshotRecord.Verification.pending), (0, .intact), (1, .intact)] {
      let sample = SampleBundle()
      var validator = UploadValidator.samples
      validator.wholeUpTo = Int64(sample.bytes.count + spare)
      try await kind.withStore(validator: validator) { store async throws in
        #expect(try await store.upload(sample, expected: true).record.verified == verified)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the full policy checks everything before every answer`(kind: StoreKind) async throws {
    var validator = UploadValidator.samples
    validator.policy = .full
    try await kind.withStore(validator: validator) { store async throws in
      #expect(await failure { try await store.upload(SampleBundle(.damaged), expected: true) } == "invalid")
      #expect(try await store.upload(SampleBundle(), expected: true).record.verified == .intact)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a disk failure during the check does not count as an invalid bundle`(kind: StoreKind) async throws {
    var validator = UploadValidator.samples
    validator.validate = { _, _ throws(BundleError) in
      throw .system(SystemError(operation: "pread", code: POSIXErrorCode.EIO.rawValue))
    }
    try await kind.withStore(validator: validator) { store async throws in
      #expect(await failure { try await store.upload(SampleBundle()) } == "system")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a discarded upload leaves nothing behind and accepts no more bytes`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      let upload = try await store.beginUpload()
      try await upload.append(IOBuffer(sample.bytes))
      await upload.discard()
      await upload.discard()
      #expect(await failure { try await upload.append(IOBuffer(sample.bytes)) } == "notFound")
      #expect(
        await failure { _ = try await upload.commit(Attachment(report: .sample, id: sample.id)) }
          == "notFound")
      #expect(await failure { _ = try await store.record(sample.id) } == "notFound")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an upload is committed once, and discarding it afterwards has no effect`(kind: StoreKind) async throws
  {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      let upload = try await store.beginUpload()
      try await upload.append(IOBuffer(sample.bytes))
      _ = try await upload.commit(Attachment(report: .sample, id: sample.id))
      await upload.discard()
      #expect(await failure { _ = try await upload.commit(Attachment(report: .sample)) } == "notFound")
      #expect(try await store.open(sample.id).contents == sample.bytes)
    }
  }

  @Test(arguments: StoreKind.allCases, SnapshotRecord.Verification.allCases)
  func `the result of a verification is stored`(kind: StoreKind, verification: SnapshotRecord.Verification)
    async throws
  {
    try await kind.withStore { store async throws in
      var record = try await store.upload(SampleBundle()).record
      let change = RecordChange(verified: verification)
      try await store.change(change, of: record.id)
      try change.apply(to: &record)
      #expect(try await store.record(record.id) == record)
      if verification == .damaged {
        #expect(await failure { _ = try await store.open(record.id) } == "damaged")
      } else {
        #expect(try await store.open(record.id).record == record)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `of uploads that race for an id with different bytes, exactly one succeeds`(kind: StoreKind)
    async throws
  {
    try await kind.withStore { store async throws in
      let id = SnapshotID()
      let samples = (0..<16).map { SampleBundle(id: id, filling: "\($0)", count: 10_000) }
      let winners = await withTaskGroup(of: SampleBundle?.self) { group in
        for sample in samples {
          group.addTask {
            let failure = await failure { try await store.upload(sample) }
            #expect(failure == nil || failure == "conflict")
            return failure == nil ? sample : nil
          }
        }
        return await group.reduce(into: [SampleBundle]()) { if let winner = $1 { $0.append(winner) } }
      }
      #expect(winners.count == 1)
      #expect(try await store.open(id).contents == winners.first?.bytes)
      #expect(try await store.record(id).sha256 == winners.first?.sha256)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `of uploads that race for an id with the same bytes, all succeed and one is the first`(
    kind: StoreKind
  ) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle(count: 10_000)
      let publications = try await withThrowingTaskGroup(of: Publication.self) { group in
        for _ in 0..<16 { group.addTask { try await store.upload(sample) } }
        return try await group.reduce(into: [Publication]()) { $0.append($1) }
      }
      #expect(Set(publications.map(\.record)).count == 1)
      #expect(publications.count { if case .created = $0 { true } else { false } } == 1)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `64 concurrent uploads are all stored`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let samples = (0..<64).map { SampleBundle(filling: "\($0)", count: $0 * 5000) }
      try await withThrowingTaskGroup { group in
        for sample in samples { group.addTask { _ = try await store.upload(sample) } }
        try await group.waitForAll()
      }
      #expect(Set(try await store.allRecords().map(\.id)) == Set(samples.map(\.id)))
      for sample in samples { #expect(try await store.open(sample.id).contents == sample.bytes) }
    }
  }
}
