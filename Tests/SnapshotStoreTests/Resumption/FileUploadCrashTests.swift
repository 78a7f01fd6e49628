import Foundation
import SnapshotFormat
import SnapshotStore
import Synchronization
import SystemIO
import TestSupport
import Testing

@testable import FileStore

/// Whatever stops a store at whatever step of an upload: what was told of it lasts, and what is published is so once.
@Suite struct FileUploadCrashTests {
  private let sample = SampleBundle(count: 9000)
  private var size: Int64 { Int64(sample.bytes.count) }

  /// What was told before a storage was copied.
  private struct Told: Sendable {
    var id: UploadID?
    var offset: Int64 = 0
    var isPublished = false
  }

  /// Copies a storage just before every step, as a killed process leaves it, and notes what was told by then.
  private final class Camera: Sendable {
    private struct State {
      var told = Told()
      var pictures: [(path: String, step: Step, told: Told)] = []
    }

    private let storage: StorageFixture
    private let state = Mutex(State())

    init(_ storage: StorageFixture) { self.storage = storage }

    var pictures: [(path: String, step: Step, told: Told)] { state.withLock { $0.pictures } }
    var id: UploadID? { state.withLock { $0.told.id } }
    var seams: Seams { Seams(before: { step throws(SystemError) in try self.take(step) }) }

    func tell(_ change: (inout Told) -> Void) { state.withLock { change(&$0.told) } }

    func tell(_ session: UploadSession) {
      tell {
        $0.id = session.id
        $0.offset = session.offset
        $0.isPublished = session.outcome != nil
      }
    }

    private func take(_ step: Step) throws(SystemError) {
      let path = state.withLock { state in
        let path = "\(storage.folder.path)/\(state.pictures.count)-\(step)"
        state.pictures.append((path, step, state.told))
        return path
      }
      do {
        try FileManager.default.copyItem(atPath: storage.path, toPath: path)
      } catch {
        throw SystemError(operation: "copy \(error)", code: POSIXErrorCode.EIO.rawValue)
      }
    }
  }

  /// Uploads the sample in three requests, one of which breaks off, and publishes it.
  private func uploadAll(to store: FileBundleStore, _ camera: Camera) async throws {
    camera.tell(try await store.createUpload(.of(sample)))
    let id = try #require(camera.id)
    camera.tell(try await store.append(sample.bytes[..<2000], to: id))
    let appending = try await store.beginAppending(AppendRequest(offset: 2000), bytes: nil, to: id)
    try await appending.write(IOBuffer(sample.bytes[2000..<4000]))
    let offset = try await appending.checkpoint()
    camera.tell { $0.offset = offset }
    try await appending.write(IOBuffer(sample.bytes[4000..<5000]))
    camera.tell(try await appending.end(.broken))
    camera.tell(try await store.append(sample.bytes[5000...], to: id))
    camera.tell(try await store.commitUpload(id, as: .of(sample, expected: sample.sha256)))
  }

  /// Damage that a power cut may do to what was written and not flushed.
  private enum Damage: CaseIterable {
    case none
    /// Bytes behind those that were told are something else.
    case garbage
    /// They never reached the disk.
    case missing
    /// Of how far the upload is, what was written last is torn.
    case tornProgress
    /// It never reached the disk.
    case missingProgress

    /// Before which steps there is something to be damaged.
    var steps: Set<Step> {
      switch self {
      case .none: Set(Step.allCases)
      case .garbage, .missing: [.flushPart]
      case .tornProgress, .missingProgress: [.flushProgress, .flushFiles]
      }
    }
  }

  private func damage(_ path: String, _ damage: Damage, _ told: Told) throws {
    if damage == .none { return }
    let shelf = Shelf(root: path)
    let id = try #require(told.id)
    switch damage {
    case .none: break
    case .garbage, .missing:
      let file = try File(shelf.path(.bytes, of: id), .update)
      let count = try file.size - told.offset
      #expect(count > 0)
      try file.truncate(to: told.offset)
      if damage == .garbage {
        try file.write([UInt8](repeating: 0xEE, count: Int(count)), at: told.offset)
      }
    case .tornProgress, .missingProgress:
      let file = try File(shelf.path(.state, of: id), .update)
      let place = Int64(try #require(try UploadFile.read(file)).number % 2 * 4096)
      let torn: Int64 = damage == .tornProgress ? 60 : 0
      try file.write([UInt8](repeating: 0, count: 4096 - Int(torn)), at: place + torn)
    }
  }

  @Test func `the steps of an upload`() async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(seams: probe.seams)
    let id = try await store.createUpload(.of(sample)).id
    #expect(probe.takeSeen() == [.openUpload, .writeProgress, .flushUpload])
    try await store.append(sample.bytes, to: id)
    #expect(probe.takeSeen() == [.flushPart, .writeProgress, .flushProgress])
    _ = try await store.commitUpload(id, as: .of(sample))
    #expect(
      probe.takeSeen() == [
        .writeRecord, .writeProgress, .flushFiles, .publishRecord, .publishBundle, .flushFolder,
        .writeProgress,
        .flushProgress,
      ])
    try await store.removeUpload(id)
    #expect(probe.takeSeen() == [.forgetUpload, .removePart, .flushUpload])
  }

  @Test func `whatever was told is true after a crash or a power cut at any step`() async throws {
    let storage = try StorageFixture()
    let camera = Camera(storage)
    try await uploadAll(to: try await storage.open(seams: camera.seams), camera)
    #expect(camera.pictures.count > 15)
    for (path, step, told) in camera.pictures {
      for kind in Damage.allCases where kind.steps.contains(step) {
        let copy = "\(path)-\(kind)"
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        try damage(copy, kind, told)
        try await check(copy, told, "\(step) \(kind)")
      }
    }
  }

  private func check(_ path: String, _ told: Told, _ label: String) async throws {
    let store = try await StorageFixture.open(path)
    defer { Task { await store.close() } }
    guard let id = told.id else {
      #expect(await store.uploadSessions().allSatisfy { $0.offset == 0 }, "\(label)")
      return
    }
    let found = try await store.uploadSession(id)
    #expect(found.offset >= told.offset, "\(label)")
    if found.outcome == nil {
      #expect(!told.isPublished, "\(label)")
      if !found.isWhole { try await store.append(sample.bytes[Int(found.offset)...], to: id) }
      let ended = try await store.commitUpload(id, as: .of(sample, expected: sample.sha256))
      guard case .published(sample.id, _) = ended.outcome else {
        Issue.record("\(label): \(String(describing: ended.outcome))")
        return
      }
    } else {
      #expect(found.outcome == .published(sample.id, isNew: true), "\(label)")
    }
    #expect(try await store.open(sample.id).contents == sample.bytes, "\(label)")
    // Beside it, a record may wait for what is found in the background.
    let left = try Folder.entries(path + "/uploads").filter { Shelf.upload(ofFile: $0) != nil }
    #expect(left == ["\(id).upload"], "\(label)")
    #expect(store.usage == StoreUsage(bundles: 1, bytes: size), "\(label)")
    #expect(store.occupancy.arriving == 0, "\(label)")
  }

  @Test(arguments: [Step.openUpload, .writeProgress, .flushUpload])
  func `an upload that can't be opened leaves nothing`(step: Step) async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(seams: probe.seams)
    probe.fail(step, with: .ENOSPC)
    #expect(await uploadFailure { _ = try await store.createUpload(.of(sample)) } == "store outOfSpace")
    #expect(try Folder.entries(storage.path + "/uploads").isEmpty)
    #expect(await store.uploadSessions().isEmpty)
    probe.stopFailing()
    _ = try await store.createUpload(.of(sample))
  }

  @Test(arguments: [Step.flushPart, .writeProgress, .flushProgress], [POSIXErrorCode.EIO, .ENOSPC])
  func `bytes that can't be made to last do not count, and the upload goes on`(
    step: Step, code: POSIXErrorCode
  ) async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(seams: probe.seams)
    let id = try await store.createUpload(.of(sample)).id
    try await store.append(sample.bytes[..<3000], to: id)
    probe.fail(step, with: code)
    let word = code == .EIO ? "store system" : "store outOfSpace"
    #expect(await uploadFailure { try await store.append(sample.bytes[3000..<6000], to: id) } == word)
    #expect(try await store.uploadSession(id).offset == 3000)
    probe.stopFailing()
    // Others may be sent now: what failed was not told.
    try await store.append(sample.bytes[3000..<3500], to: id)
    let copy = storage.folder.path + "/copy"
    try FileManager.default.copyItem(atPath: storage.path, toPath: copy)
    #expect(try await StorageFixture.open(copy).uploadSession(id).offset == 3500)
    try await store.append(sample.bytes[3500...], to: id)
    _ = try await store.commitUpload(id, as: .of(sample, expected: sample.sha256))
    #expect(try await store.open(sample.id).contents == sample.bytes)
  }

  @Test(
    arguments: [Step.writeRecord, .writeProgress, .flushFiles, .publishRecord, .publishBundle, .flushFolder],
    [POSIXErrorCode.EIO, .ENOSPC])
  func `a publication that fails at any step may be tried again`(step: Step, code: POSIXErrorCode)
    async throws
  {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(seams: probe.seams)
    let id = try await store.createUpload(.of(sample)).id
    try await store.append(sample.bytes, to: id)
    probe.fail(step, with: code)
    let word = code == .EIO ? "store system" : "store outOfSpace"
    #expect(await uploadFailure { _ = try await store.commitUpload(id, as: .of(sample)) } == word)
    #expect(try await store.uploadSession(id).isDue)
    #expect(await failure { _ = try await store.record(sample.id) } == "notFound")
    let copy = storage.folder.path + "/copy"
    try FileManager.default.copyItem(atPath: storage.path, toPath: copy)
    let reopened = try await StorageFixture.open(copy)
    for store in [store, reopened] {
      probe.stopFailing()
      #expect(try await store.commitUpload(id, as: .of(sample)).outcome == .published(sample.id, isNew: true))
      #expect(try await store.open(sample.id).contents == sample.bytes)
    }
  }

  @Test func `that it was published may be written down later`() async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(seams: probe.seams)
    let id = try await store.createUpload(.of(sample)).id
    try await store.append(sample.bytes, to: id)
    probe.fail(.flushProgress)
    #expect(try await store.commitUpload(id, as: .of(sample)).outcome == .published(sample.id, isNew: true))
    try await store.delete(sample.id)
    await store.close()
    let reopened = try await storage.open()
    #expect(try await reopened.uploadSession(id).outcome == .published(sample.id, isNew: true))
  }

  @Test(arguments: [Step.writeProgress, .flushProgress])
  func `a refusal that can't be written down is told later`(step: Step) async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(seams: probe.seams)
    let broken = SampleBundle(.broken)
    let id = try await store.createUpload(.of(broken)).id
    try await store.append(broken.bytes, to: id)
    probe.fail(step)
    #expect(await uploadFailure { _ = try await store.commitUpload(id, as: .of(broken)) } == "store system")
    probe.stopFailing()
    guard case .refused = try await store.commitUpload(id, as: .of(broken)).outcome else {
      Issue.record("not refused")
      return
    }
    await store.close()
    let reopened = try await storage.open()
    guard case .refused = try await reopened.uploadSession(id).outcome else {
      Issue.record("forgotten")
      return
    }
    #expect(try Folder.entries(storage.path + "/uploads") == ["\(id).upload"])
  }

  @Test func `a removal that is cut short is done or not begun`() async throws {
    let storage = try StorageFixture()
    let camera = Camera(storage)
    let store = try await storage.open(seams: camera.seams)
    let id = try await store.createUpload(.of(sample)).id
    try await store.append(sample.bytes[..<100], to: id)
    let before = camera.pictures.count
    try await store.removeUpload(id)
    for (path, step, _) in camera.pictures[before...] {
      let reopened = try await StorageFixture.open(path)
      if step == .forgetUpload {
        #expect(try await reopened.uploadSession(id).offset == 100)
      } else {
        #expect(await uploadFailure { _ = try await reopened.uploadSession(id) } == "unknown")
        #expect(try Folder.entries(path + "/uploads").isEmpty)
      }
    }
  }

  @Test func `joined parts are there whole or not at all`() async throws {
    let storage = try StorageFixture()
    let camera = Camera(storage)
    let store = try await storage.open(seams: camera.seams)
    var parts: [UploadID] = []
    for range in [0..<4000, 4000..<sample.bytes.count] {
      let terms = UploadTerms(.partial, length: Int64(range.count), dialect: "test")
      parts.append(try await store.createUpload(terms).id)
      try await store.append(sample.bytes[range], to: parts[parts.count - 1])
    }
    let before = camera.pictures.count
    let joined = try await store.createUpload(
      UploadTerms(.joined(.of(sample), parts: parts), dialect: "test"))
    #expect(
      camera.pictures[before...].map(\.step) == [.openUpload, .flushPart, .writeProgress, .flushUpload])
    for (path, step, _) in camera.pictures[before...] {
      let reopened = try await StorageFixture.open(path)
      let ids = await reopened.uploadSessions().map(\.id)
      #expect(Set(ids).isSuperset(of: parts))
      #expect(ids.contains(joined.id) == (step == .flushUpload))
    }
  }
}

extension StorageFixture {
  /// Opens what was copied.
  static func open(_ path: String) async throws -> FileBundleStore {
    try await FileBundleStore.open(
      FileBundleStore.Configuration(path: path, admission: .samples, reserve: 0), logger: .quiet)
  }
}
