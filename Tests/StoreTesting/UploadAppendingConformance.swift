import SnapshotFormat
import SnapshotStore
import SystemIO
import Testing

/// The guarantees of ``UploadAppending``, tested with every store.
@Suite struct UploadAppendingConformance {
  @Test(arguments: StoreKind.allCases)
  func `bytes that arrived before the body broke off count`(kind: StoreKind) async throws {
    try await kind.withUploadStore { store async throws in
      let sample = SampleBundle(count: 1000)
      let id = try await store.createUpload(.of(sample)).id
      #expect(try await store.append(sample.bytes[..<700], to: id, pieceSize: 100, .broken).offset == 700)
      #expect(await uploadFailure { try await store.append([1], to: id, at: 699) } == "mismatchingOffset")
      #expect(await uploadFailure { try await store.append([1], to: id, at: 701) } == "mismatchingOffset")
      try await store.append(sample.bytes[700...], to: id)
      _ = try await store.commitUpload(id, as: .of(sample, expected: sample.sha256))
      #expect(try await store.open(sample.id).contents == sample.bytes)
    }
  }

  @Test(arguments: StoreKind.allCases, [UploadEnding.broken, .discarded])
  func `an incomplete body with a digest does not count`(
    kind: StoreKind, ending: UploadEnding
  ) async throws {
    try await kind.withUploadStore { store async throws in
      let sample = SampleBundle(count: 1000)
      let id = try await store.createUpload(.of(sample)).id
      try await store.append(sample.bytes[..<100], to: id)
      let digest = StatedDigest.before(.init(.sha256, []))
      let left = try await store.append(
        Array(repeating: 9, count: 500), to: id, digest: digest, pieceSize: 100, checkpoints: true, ending)
      #expect(left.offset == 100)
      try await store.append(sample.bytes[100...], to: id, digest: digest)
      _ = try await store.commitUpload(id, as: .of(sample, expected: sample.sha256))
      #expect(try await store.open(sample.id).contents == sample.bytes)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `bytes can be written during a checkpoint`(kind: StoreKind) async throws {
    try await kind.withUploadStore { store async throws in
      let sample = SampleBundle(count: 600_000)
      let id = try await store.createUpload(.of(sample)).id
      let appending = try await store.beginAppending(AppendRequest(offset: 0), bytes: nil, to: id)
      var (rest, offset, number) = (sample.bytes[...], Int64(0), 0)
      while !rest.isEmpty {
        let (received, piece) = (sample.bytes.count - rest.count, rest.prefix(number % 3 == 0 ? 30_000 : 500))
        async let checkpoint = appending.checkpoint()
        // Some pieces are collected before they are written, others are written at once.
        try await appending.write(IOBuffer(piece))
        let durable = try await checkpoint
        rest = rest.dropFirst(piece.count)
        #expect(durable >= offset && durable >= received && durable <= received + piece.count)
        #expect(try await store.uploadSession(id).offset == durable)
        (offset, number) = (durable, number + 1)
      }
      #expect(try await appending.end(.finished).isDue)
      _ = try await store.commitUpload(id, as: .of(sample, expected: sample.sha256))
      #expect(try await store.open(sample.id).contents == sample.bytes)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `discarding a request removes its bytes except those already acknowledged`(kind: StoreKind)
    async throws
  {
    try await kind.withUploadStore { store async throws in
      let sample = SampleBundle(count: 1000)
      let id = try await store.createUpload(.of(sample)).id
      let appending = try await store.beginAppending(AppendRequest(offset: 0), bytes: nil, to: id)
      try await appending.write(IOBuffer(sample.bytes[..<300]))
      #expect(try await appending.checkpoint() == 300)
      try await appending.write(IOBuffer([UInt8](repeating: 9, count: 300)))
      #expect(try await appending.end(.discarded).offset == 300)
      try await store.append(sample.bytes[300...], to: id)
      _ = try await store.commitUpload(id, as: .of(sample, expected: sample.sha256))
      #expect(try await store.open(sample.id).contents == sample.bytes)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `bytes beyond the stated length or the limit are not stored`(kind: StoreKind) async throws {
    try await kind.withUploadStore {
      $0.length = 1000
    } _: { store async throws in
      let sample = SampleBundle(count: 500)
      let id = try await store.createUpload(.of(sample)).id
      let size = Int64(sample.bytes.count)
      #expect(await uploadFailure { try await store.append(sample.bytes + [1], to: id) } == "exceeded")
      #expect(try await store.uploadSession(id).offset == 0)
      #expect(
        await uploadFailure {
          try await store.append(sample.bytes + [1], to: id, declared: false, pieceSize: Int(size))
        } == "exceeded")
      #expect(try await store.uploadSession(id).offset == size)
      let open = try await store.createUpload(.of(sample, deferred: true)).id
      #expect(
        await uploadFailure {
          try await store.append(
            [UInt8](repeating: 0, count: 1001), to: open, declared: false, pieceSize: 500)
        } == "tooLarge")
      #expect(try await store.uploadSession(open).offset == 1000)
      #expect(
        await uploadFailure {
          _ = try await store.createUpload(UploadTerms(.partial, length: 1001, dialect: "test"))
        } == "tooLarge")
    }
  }
}
