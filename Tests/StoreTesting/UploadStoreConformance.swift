import FileStore
package import Foundation
import Logging
import S3Client
import S3Store
import S3Testing
import SnapshotFormat
package import SnapshotStore
import SystemIO
import TestSupport
import Testing

/// A store of bundles that also accepts uploads.
package typealias AnyUploadStore = BundleStore & UploadStore

extension StoreKind {
  /// Runs `body` with an empty store that accepts uploads.
  package func withUploadStore(
    _ configure: (inout UploadLimits) -> Void = { _ in }, clock: TestClock = TestClock(),
    _ body: (any AnyUploadStore) async throws -> Void
  ) async throws {
    var limits = UploadLimits()
    limits.length = 1 << 20
    configure(&limits)
    var validator = UploadValidator.samples
    validator.now = { clock.now }
    switch self {
    case .memory: try await body(InMemoryStore(validator: validator, uploadLimits: limits))
    case .files:
      let folder = try TemporaryFolder()
      var configuration = FileBundleStore.Configuration(
        path: folder.path + "/Storage", validator: validator, reserve: 0)
      configuration.uploads = limits
      let store = try await FileBundleStore.open(configuration, logger: Logger.quiet)
      try await body(store)
      await store.close()
    case .objects:
      // Parts that are smaller than a real store accepts, so that uploads have several.
      try await withFakeS3 {
        try await Self.withObjects(try .of($0), limits, validator, partBytes: 1 << 15, body)
      }
    case .ceph:
      let client = try await CephCluster.shared.client(prefix: UUID().uuidString)
      try await Self.withObjects(client, limits, validator, body)
    }
  }

  private static func withObjects(
    _ client: S3Client, _ limits: UploadLimits, _ validator: UploadValidator,
    partBytes: Int64 = S3Limits.minimumPartBytes, _ body: (any AnyUploadStore) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    var configuration = S3BundleStore.Configuration(folder: folder.path + "/Node", validator: validator)
    configuration.uploads = limits
    configuration.partBytes = partBytes
    let store = try await S3BundleStore.open(
      configuration, client: client, rows: InMemoryUploadRows(), logger: Logger.quiet)
    try await body(store)
    await store.close()
    #expect(try Folder.entries(folder.path + "/Node") == ["lock"])
  }
}

/// A clock that only tests advance.
package final class TestClock: Sendable {
  private let time = Lock(Date(timeIntervalSince1970: 1_800_000_000))

  package var now: Date { time.withLock { $0 } }

  package func advance(by seconds: TimeInterval) { time.withLock { $0 += seconds } }
}

/// The guarantees of ``UploadStore``, tested with every store.
@Suite struct UploadStoreConformance {
  @Test(arguments: StoreKind.allCases, [1, 1000, 1 << 16])
  func `an upload in several requests is published unchanged`(kind: StoreKind, pieceSize: Int) async throws {
    try await kind.withUploadStore { store async throws in
      let sample = SampleBundle(count: pieceSize == 1 ? 50 : 200_000)
      let created = try await store.createUpload(.of(sample))
      #expect((created.offset, created.length) == (0, Int64(sample.bytes.count)))
      for (start, end) in [(0, 20), (20, 20), (20, 60)] {
        let session = try await store.append(
          sample.bytes[start..<end], to: created.id, pieceSize: pieceSize, checkpoints: true)
        #expect(session.offset == Int64(end) && !session.isWhole)
        #expect(try await store.uploadSession(created.id) == session)
      }
      let whole = try await store.append(sample.bytes[60...], to: created.id, pieceSize: pieceSize)
      #expect(whole.isDue)
      let ended = try await store.commitUpload(created.id, as: .of(sample, expected: sample.sha256))
      #expect(ended.outcome == .published(sample.id, isNew: true))
      #expect(try await store.open(sample.id).contents == sample.bytes)
      #expect(try await store.record(sample.id).sha256 == sample.sha256)
      #expect(try await store.uploadSession(created.id) == ended)
      // Publishing it again changes nothing.
      #expect(try await store.commitUpload(created.id, as: .of(sample)) == ended)
      #expect(try await store.append([], to: created.id) == ended)
      #expect(await uploadFailure { try await store.append([1], to: created.id) } == "completed")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an upload that is not a bundle is refused permanently, and its bytes are removed`(kind: StoreKind)
    async throws
  {
    try await kind.withUploadStore { store async throws in
      for (quality, expected, reason) in [
        (SampleBundle.Quality.broken, false, UploadRefusal.Reason.invalid), (.intact, true, .digestMismatch),
      ] {
        let sample = SampleBundle(quality)
        let id = try await store.createUpload(.of(sample)).id
        try await store.append(sample.bytes, to: id)
        let ended = try await store.commitUpload(id, as: .of(sample, expected: expected ? .of([1]) : nil))
        guard case .refused(let refusal) = ended.outcome else { throw StoreError.notFound }
        #expect(refusal.reason == reason)
        #expect(try await store.uploadSession(id) == ended)
        #expect(try await store.commitUpload(id, as: .of(sample)) == ended)
        #expect(await failure { _ = try await store.record(sample.id) } == "notFound")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an upload whose UUID is taken ends with the same refusal as any`(kind: StoreKind) async throws {
    try await kind.withUploadStore { store async throws in
      let sample = SampleBundle()
      try await store.upload(sample)
      #expect(try await store.uploadResumably(sample).outcome == .published(sample.id, isNew: false))
      for (other, createOnly, reason) in [
        (SampleBundle(id: sample.id, filling: "other"), false, UploadRefusal.Reason.conflict),
        (sample, true, .alreadyExists),
      ] {
        let id = try await store.createUpload(.of(other)).id
        try await store.append(other.bytes, to: id)
        let outcome = try await store.commitUpload(id, as: .of(other, createOnly: createOnly)).outcome
        guard case .refused(let refusal) = outcome else { throw StoreError.notFound }
        #expect(refusal.reason == reason)
      }
      try await store.delete(sample.id)
      guard case .refused(let refusal) = try await store.uploadResumably(sample).outcome else {
        throw StoreError.notFound
      }
      #expect(refusal.reason == .deleted)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `parts are joined in the requested order, and can be used again`(kind: StoreKind) async throws {
    try await kind.withUploadStore { store async throws in
      let sample = SampleBundle(count: 3000)
      var parts: [UploadID] = []
      for range in [0..<1000, 1000..<sample.bytes.count] {
        let id = try await store.createUpload(
          UploadTerms(.partial, length: Int64(range.count), dialect: "test")
        ).id
        #expect(try await store.append(sample.bytes[range], to: id).isWhole)
        #expect(try await store.commitUpload(id, as: .of(sample)).outcome == nil)
        parts.append(id)
      }
      for isNew in [true, false] {
        let joined = try await store.createUpload(
          UploadTerms(.joined(.of(sample), parts: parts), dialect: "test"))
        #expect(joined.isDue && joined.offset == Int64(sample.bytes.count))
        #expect(await uploadFailure { try await store.append([], to: joined.id) } == "joined")
        let ended = try await store.commitUpload(joined.id, as: .of(sample, expected: sample.sha256))
        #expect(ended.outcome == .published(sample.id, isNew: isNew))
      }
      #expect(try await store.open(sample.id).contents == sample.bytes)
      #expect(
        await uploadFailure {
          _ = try await store.createUpload(
            UploadTerms(.joined(.of(sample), parts: [parts[0], UploadID()]), dialect: "test"))
        } == "unusablePart")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an upload that was removed is unknown`(kind: StoreKind) async throws {
    try await kind.withUploadStore { store async throws in
      let sample = SampleBundle()
      let id = try await store.createUpload(.of(sample)).id
      try await store.append(sample.bytes[..<3], to: id)
      try await store.removeUpload(id)
      #expect(await uploadFailure { _ = try await store.uploadSession(id) } == "unknown")
      #expect(await uploadFailure { try await store.append([1], to: id, at: 3) } == "unknown")
      #expect(await uploadFailure { _ = try await store.commitUpload(id, as: .of(sample)) } == "unknown")
      #expect(await uploadFailure { try await store.removeUpload(id) } == "unknown")
      let done = try await store.uploadResumably(sample).id
      try await store.removeUpload(done)
      #expect(try await store.open(sample.id).contents == sample.bytes)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the number of open uploads is limited, and the oldest ended uploads are removed`(kind: StoreKind)
    async throws
  {
    let clock = TestClock()
    try await kind.withUploadStore(
      {
        ($0.open, $0.openPerOwner, $0.remembered) = (3, 2, 1)
      }, clock: clock
    ) { store async throws in
      let samples = (0..<4).map { _ in SampleBundle() }
      let first = try await store.createUpload(.of(samples[0], owner: "a")).id
      _ = try await store.createUpload(.of(samples[1], owner: "a"))
      #expect(
        await uploadFailure { _ = try await store.createUpload(.of(samples[2], owner: "a")) } == "tooManyOpen"
      )
      _ = try await store.createUpload(.of(samples[2], owner: "b"))
      #expect(
        await uploadFailure { _ = try await store.createUpload(.of(samples[3], owner: "c")) } == "tooManyOpen"
      )
      try await store.removeUpload(first)
      var ended: [UploadID] = []
      for sample in samples {
        ended.append(try await store.uploadResumably(sample).id)
        clock.advance(by: 1)
      }
      _ = try await store.createUpload(.of(samples[3], owner: "c"))
      #expect(await uploadFailure { _ = try await store.uploadSession(ended[0]) } == "unknown")
      #expect(try await store.uploadSession(ended[3]).outcome != nil)
      #expect(await store.uploadSessions().count == 4)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the number of open uploads from one address is limited`(kind: StoreKind) async throws {
    try await kind.withUploadStore({ $0.openPerAddress = 2 }) { store async throws in
      func open(_ owner: String, _ address: String) async throws -> UploadID {
        var terms = UploadTerms.of(SampleBundle(), owner: owner)
        terms.address = address
        return try await store.createUpload(terms).id
      }
      let first = try await open("a", "192.0.2.1")
      _ = try await open("b", "192.0.2.1")
      #expect(await uploadFailure { _ = try await open("c", "192.0.2.1") } == "tooManyOpen")
      _ = try await open("c", "192.0.2.2")
      try await store.removeUpload(first)
      _ = try await open("c", "192.0.2.1")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a transient upload has no stored session and counts against no limit`(kind: StoreKind) async throws {
    try await kind.withUploadStore {
      ($0.open, $0.openPerOwner, $0.openPerAddress) = (1, 1, 1)
    } _: { store async throws in
      let open = try await store.createUpload(.of(SampleBundle()))
      let uploads = [try await store.beginUpload(), try await store.beginUpload()]
      #expect(await store.uploadSessions() == [open])
      for upload in uploads {
        let sample = SampleBundle(count: 50_000)
        try await upload.append(IOBuffer(sample.bytes))
        #expect(try await upload.checkpoint() == 0)
        #expect(try await upload.end(.finished).isDue)
        _ = try await upload.commit(.of(sample, expected: sample.sha256))
        #expect(try await store.open(sample.id).contents == sample.bytes)
      }
      #expect(await store.uploadSessions() == [open])
    }
  }

  @Test(arguments: StoreKind.allCases, [-1, 0])
  func `a transient upload accepts no more than its own limit and the general one`(
    kind: StoreKind, spare: Int
  ) async throws {
    let sample = SampleBundle(count: 50_000)
    let size = Int64(sample.bytes.count + spare)
    for (limit, most) in [(size, Int64.max), (.max, size)] {
      try await kind.withUploadStore {
        $0.length = most
      } _: { store async throws in
        let terms = UploadTerms(.whole(.of(sample)), dialect: "test")
        let upload = try await store.beginTransientUpload(terms, limit: limit, expecting: nil)
        let word = await uploadFailure {
          for start in stride(from: 0, to: sample.bytes.count, by: 10_000) {
            try await upload.write(
              IOBuffer(sample.bytes[start..<min(start + 10_000, sample.bytes.count)]))
          }
          _ = try await upload.commit(.of(sample))
        }
        #expect(word == (spare < 0 ? "tooLarge" : nil))
        await upload.discard()
        #expect(await failure { _ = try await store.record(sample.id) } == (spare < 0 ? "notFound" : nil))
      }
    }
  }

  @Test(arguments: StoreKind.allCases, [0, 1])
  func `terms longer than the limit are refused`(kind: StoreKind, excess: Int) async throws {
    let terms = UploadTerms(.partial, dialect: "test", note: String(repeating: "n", count: 500))
    let size = try SnapshotJSON.encode(terms).count
    try await kind.withUploadStore {
      $0.termsBytes = size - excess
    } _: { store async throws in
      let word = await uploadFailure {
        let id = try await store.createUpload(terms).id
        #expect(try await store.uploadSession(id).terms == terms)
      }
      #expect(word == (excess == 0 ? nil : "termsTooLong"))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an upload without a UUID gets the manifest's if that is free`(kind: StoreKind) async throws {
    try await kind.withUploadStore { store async throws in
      let sample = SampleBundle(count: 1000)
      let attachment = Attachment(report: .sample)
      let terms = UploadTerms(.whole(attachment), length: Int64(sample.bytes.count), dialect: "test")
      var published: [SnapshotID] = []
      for round in 0..<3 {
        if round == 2 { try await store.delete(sample.id) }
        let id = try await store.createUpload(terms).id
        try await store.append(sample.bytes, to: id)
        let ended = try await store.commitUpload(id, as: attachment)
        guard case .published(let snapshot, isNew: true) = ended.outcome else {
          Issue.record("\(String(describing: ended.outcome))")
          return
        }
        #expect(try await store.commitUpload(id, as: attachment) == ended)
        published.append(snapshot)
      }
      #expect(published[0] == sample.id)
      #expect(Set(published).count == 3)
      for id in published[1...] { #expect(try await store.record(id).manifestID == sample.id) }
    }
  }
}
