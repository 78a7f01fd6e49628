import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import FileStore

/// After a crash or a power cut at any time during an upload, acknowledged bytes are durable, and the upload is
/// published at most once.
@Suite struct FileUploadPowerCutTests {
  private let sample = SampleBundle(count: 9000)
  private var size: Int64 { Int64(sample.bytes.count) }

  /// The acknowledged state of an upload.
  private struct Answered: Sendable {
    var id: UploadID?
    var offset: Int64 = 0
    var isPublished = false

    mutating func record(_ session: UploadSession) {
      id = session.id
      offset = session.offset
      isPublished = session.outcome != nil
    }
  }

  private func open(_ path: String) async throws -> FileBundleStore {
    try await StorageFixture.open(path + "/Storage", faults: .unchangedFolders)
  }

  /// How the sample is attached: under its UUID, or without one.
  private func attachment(_ isNamed: Bool) -> SnapshotStore.Attachment {
    SnapshotStore.Attachment(report: .sample, id: isNamed ? sample.id : nil, expected: sample.sha256)
  }

  /// Uploads the sample in three requests, one of which breaks off, and publishes it.
  private func upload(on disk: PowerCutDisk<Answered>, isNamed: Bool = true) async throws {
    let store = try await open(disk.path)
    func record(_ session: UploadSession) { disk.promise { $0.record(session) } }
    let session = try await store.createUpload(
      UploadTerms(.whole(attachment(isNamed)), length: size, dialect: "test"))
    record(session)
    record(try await store.append(sample.bytes[..<2000], to: session.id))
    let appending = try await store.beginAppending(AppendRequest(offset: 2000), bytes: nil, to: session.id)
    try await appending.write(IOBuffer(sample.bytes[2000..<4000]))
    let offset = try await appending.checkpoint()
    disk.promise { $0.offset = offset }
    try await appending.write(IOBuffer(sample.bytes[4000..<5000]))
    record(try await appending.end(.broken))
    record(try await store.append(sample.bytes[5000...], to: session.id))
    record(try await store.commitUpload(session.id, as: attachment(isNamed)))
    await store.close()
  }

  private func check(_ remains: PowerCutDisk<Answered>.Remains, isNamed: Bool = true) async throws {
    let (label, answered) = (remains.label, remains.promise)
    let store = try await open(remains.path)
    guard let id = answered.id else {
      let sessions = await store.uploadSessions()
      #expect(sessions.allSatisfy { $0.offset == 0 }, "\(label)")
      await store.close()
      return
    }
    let found: UploadSession
    do {
      found = try await store.uploadSession(id)
    } catch {
      Issue.record("\(label): \(error)")
      await store.close()
      return
    }
    #expect(found.offset >= answered.offset, "\(label)")
    if found.outcome == nil {
      #expect(!answered.isPublished, "\(label)")
      if !found.isWhole { try await store.append(sample.bytes[Int(found.offset)...], to: id) }
      let ended = try await store.commitUpload(id, as: attachment(isNamed))
      guard case .published(sample.id, _) = ended.outcome else {
        Issue.record("\(label): \(String(describing: ended.outcome))")
        await store.close()
        return
      }
    } else {
      #expect(found.outcome == .published(sample.id, isNew: true), "\(label)")
    }
    let contents = try await store.open(sample.id).contents
    #expect(contents == sample.bytes, "\(label)")
    let left = try Folder.entries(remains.path + "/Storage/uploads").filter {
      StorageLayout.upload(ofFile: $0) != nil
    }
    #expect(left == ["\(id).upload"], "\(label)")
    await store.recovered()
    #expect(store.usage == StoreUsage(bundles: 1, bytes: size), "\(label)")
    #expect(store.folder.quotaTracker.arriving == 0, "\(label)")
    await store.close()
  }

  @Test(arguments: [true, false])
  func `the acknowledged state of an upload survives a crash or a power cut at any time`(isNamed: Bool)
    async throws
  {
    let disk = try PowerCutDisk(Answered())
    try await upload(on: disk, isNamed: isNamed)
    try await disk.forEachCut { try await check($0, isNamed: isNamed) }
  }

  @Test func `the state of an upload after a crash survives a power cut`() async throws {
    let first = try PowerCutDisk(Answered())
    try await upload(on: first)
    for moment in first.moments {
      let disk = try PowerCutDisk(after: moment)
      let store = try await open(disk.path)
      if let id = moment.promise.id {
        let session = try await store.uploadSession(id)
        disk.promise { $0.record(session) }
      }
      await store.close()
      try await disk.forEachCut { try await check($0) }
    }
  }

  @Test func `an upload that was removed stays removed`() async throws {
    let disk = try PowerCutDisk<(id: UploadID?, isRemoved: Bool?)>((nil, false))
    let store = try await open(disk.path)
    let id = try await store.createUpload(.of(sample)).id
    try await store.append(sample.bytes[..<100], to: id)
    disk.promise { $0 = (id, false) }
    disk.promise { $0 = (id, nil) }
    try await store.removeUpload(id)
    disk.promise { $0 = (id, true) }
    await store.close()
    try await disk.forEachCut { remains in
      guard let id = remains.promise.id else { return }
      let reopened = try await open(remains.path)
      let offsets = await reopened.uploadSessions().filter { $0.id == id }.map(\.offset)
      switch remains.promise.isRemoved {
      case false?: #expect(offsets == [100], "\(remains.label)")
      case true?: #expect(offsets == [], "\(remains.label)")
      case nil: #expect(offsets == [100] || offsets == [], "\(remains.label)")
      }
      if offsets.isEmpty {
        let left = try Folder.entries(remains.path + "/Storage/uploads")
        #expect(left.isEmpty, "\(remains.label)")
      }
      await reopened.close()
    }
  }

  @Test func `joined uploads exist completely or not at all`() async throws {
    let disk = try PowerCutDisk<(parts: Set<UploadID>, joined: UploadID?)>(([], nil))
    let store = try await open(disk.path)
    var parts: [UploadID] = []
    for range in [0..<4000, 4000..<sample.bytes.count] {
      let terms = UploadTerms(.partial, length: Int64(range.count), dialect: "test")
      let id = try await store.createUpload(terms).id
      try await store.append(sample.bytes[range], to: id)
      parts.append(id)
      disk.promise { $0.parts.insert(id) }
    }
    let joined = try await store.createUpload(
      UploadTerms(.joined(.of(sample), parts: parts), dialect: "test"))
    disk.promise { $0.joined = joined.id }
    await store.close()
    try await disk.forEachCut { remains in
      let reopened = try await open(remains.path)
      let sessions = await reopened.uploadSessions()
      #expect(Set(sessions.map(\.id)).isSuperset(of: remains.promise.parts), "\(remains.label)")
      for session in sessions where !parts.contains(session.id) {
        #expect(session.id == joined.id && session.offset == size, "\(remains.label)")
        _ = try await reopened.commitUpload(joined.id, as: .of(sample, expected: sample.sha256))
        let contents = try await reopened.open(sample.id).contents
        #expect(contents == sample.bytes, "\(remains.label)")
      }
      if let id = remains.promise.joined {
        #expect(sessions.contains { $0.id == id }, "\(remains.label)")
      }
      await reopened.close()
    }
  }
}
