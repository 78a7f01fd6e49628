import FileStore
import Foundation
package import Logging
import SnapshotFormat
package import SnapshotStore
import SystemIO
import TestSupport
import Testing

/// The stores that must obey the same rules.
package enum StoreKind: CaseIterable, Sendable {
  case memory, files

  /// Runs `body` with an empty store.
  package func withStore(
    validator: UploadValidator = .samples, _ body: (any BundleStore) async throws -> Void
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
    }
  }
}

extension Logger {
  /// A logger that nobody hears.
  package static let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
}

/// The rules of ``BundleStore``, for every store alike.
@Suite struct BundleStoreConformance {
  @Test(arguments: StoreKind.allCases, [1, 7, 1 << 16])
  func `what was committed is read back as it came`(kind: StoreKind, pieceSize: Int) async throws {
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
      found.verified = record.verified
      #expect(found == record)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `without an id the manifest's is used`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      let publication = try await store.upload(sample.bytes, as: Attachment(report: .sample))
      #expect(publication.record.id == sample.id)
      #expect(try await store.record(sample.id) == publication.record)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a chosen id wins over the manifest's`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let (sample, chosen) = (SampleBundle(), SnapshotID())
      let publication = try await store.upload(sample.bytes, as: Attachment(report: .sample, id: chosen))
      #expect(publication.record.id == chosen)
      #expect(await failure { _ = try await store.record(sample.id) } == "notFound")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a record says which token it was attached with`(kind: StoreKind) async throws {
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
  func `a bundle of another application than may be is refused`(kind: StoreKind) async throws {
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
  func `the same bytes for the same report are there already`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      let first = try await store.upload(sample)
      #expect(try await store.upload(sample) == .alreadyThere(first.record))
      #expect(await failure { try await store.upload(sample, createOnly: true) } == "alreadyExists")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a taken id is refused to other bytes and to another report`(kind: StoreKind) async throws {
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
  func `an open bundle stays readable while it is deleted`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle(count: 1000)
      try await store.upload(sample)
      let bundle = try await store.open(sample.id)
      try await store.delete(sample.id)
      #expect(try bundle.contents == sample.bytes)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a wrong digest is named and nothing is kept`(kind: StoreKind) async throws {
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
  func `what is no bundle is refused and nothing is kept`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle(.broken)
      #expect(await failure { try await store.upload(sample, expected: true) } == "invalid")
      #expect(await failure { try await store.upload([], as: Attachment(report: .sample)) } == "invalid")
      #expect(try await store.allRecords().isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `without a digest everything is checked before the answer`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      #expect(await failure { try await store.upload(SampleBundle(.damaged)) } == "invalid")
      #expect(try await store.upload(SampleBundle()).record.verified == .intact)
      #expect(try await store.upload(SampleBundle(), expected: true).record.verified == .pending)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a small bundle is checked whole before the answer`(kind: StoreKind) async throws {
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
  func `a disk that fails while a bundle is checked is not the bundle's fault`(kind: StoreKind) async throws {
    var validator = UploadValidator.samples
    validator.validate = { _, _ throws(BundleError) in
      throw .system(SystemError(operation: "pread", code: POSIXErrorCode.EIO.rawValue))
    }
    try await kind.withStore(validator: validator) { store async throws in
      #expect(await failure { try await store.upload(SampleBundle()) } == "system")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a discarded upload leaves nothing and takes nothing more`(kind: StoreKind) async throws {
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
  func `an upload is committed once, and discarding it afterwards is harmless`(kind: StoreKind) async throws {
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
  func `a verification is kept`(kind: StoreKind, verification: SnapshotRecord.Verification) async throws {
    try await kind.withStore { store async throws in
      var record = try await store.upload(SampleBundle()).record
      try await store.change(RecordChange(verified: verification), of: record.id)
      record.verified = verification
      #expect(try await store.record(record.id) == record)
      if verification == .damaged {
        #expect(await failure { _ = try await store.open(record.id) } == "damaged")
      } else {
        #expect(try await store.open(record.id).record == record)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `uploads that race for an id with other bytes have one winner`(kind: StoreKind) async throws {
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
  func `uploads that race for an id with the same bytes all end well, one as the first`(
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
  func `64 uploads at once are all there`(kind: StoreKind) async throws {
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
