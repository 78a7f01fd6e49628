import FileStore
import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// Bundles stay open for a while after they were read, but no longer than they exist.
@Suite(.enabled(if: File(cached: "/") != nil)) struct OpenBundlesTests {
  private let storage: StorageFixture
  private let sample = SampleBundle()

  init() throws { storage = try StorageFixture() }

  /// A store that has opened the sample and keeps it open.
  private func makeStore() async throws -> FileBundleStore {
    // An upload's own descriptor may be closed shortly after the answer, so another store receives the sample.
    let former = try await storage.open()
    try await former.upload(sample)
    await former.close()
    let store = try await storage.open()
    _ = try await store.record(sample.id)
    let first = try await store.open(sample.id).file
    #expect(try await store.open(sample.id).file === first, "it is opened once")
    return store
  }

  /// The number of the process's descriptors that refer to the sample's bytes, under any name.
  private func openDescriptors() throws -> Int { try Descriptors.count(of: "/\(sample.id).") }

  @Test func `a deleted bundle is closed`() async throws {
    let store = try await makeStore()
    #expect(try openDescriptors() == 1)
    try await store.delete(sample.id)
    #expect(await failure { _ = try await store.open(sample.id) } == "deleted")
    #expect(try openDescriptors() == 0)
  }

  @Test func `reading a bundle continues while it is deleted`() async throws {
    let store = try await makeStore()
    let file = try await store.open(sample.id).file
    let bytes = try file.read(upTo: 1 << 20, at: 0)
    try await store.delete(sample.id)
    #expect(try file.read(upTo: 1 << 20, at: 0) == bytes)
  }

  @Test func `a bundle that is set aside can't be opened`() async throws {
    let store = try await makeStore()
    try await store.setAside(sample.id)
    #expect(await failure { _ = try await store.open(sample.id) } == "damaged")
    #expect(try openDescriptors() == 0)
  }

  @Test func `a bundle whose file was removed by hand can't be opened`() async throws {
    let store = try await makeStore()
    try Folder.remove(storage.file(sample.id, "zip"))
    #expect(await failure { _ = try await store.open(sample.id) } == "damaged")
    #expect(try openDescriptors() == 0)
  }

  @Test func `a bundle that is kept open is missing for callers who may not see its record`() async throws {
    let store = try await makeStore()
    let file = try await store.open(sample.id).file
    let id = sample.id
    #expect(try await store.open(id) { $0.id == id }.file === file)
    #expect(await failure { _ = try await store.open(id) { _ in false } } == "notFound")
    try await store.delete(id)
    #expect(await failure { _ = try await store.open(id) { _ in true } } == "deleted")
  }

  @Test func `a closed store keeps no file open`() async throws {
    let store = try await makeStore()
    await store.close()
    #expect(try openDescriptors() == 0)
  }
}
