import Foundation
import SystemIO
import TestSupport
import Testing
import ZipArchive

@testable import SnapshotViewer

struct ViewerCacheTests {
  private let folder: TemporaryFolder
  private let archive: File
  private let entries: [ZipEntry]

  init() throws {
    folder = try TemporaryFolder()
    archive = try File(folder.file("bundle.zip").path, .create(mode: 0o600))
    let writer = ZipWriter(archive)
    for name in ["a", "b", "c"] {
      try writer.add(name, bytes: Array(String(repeating: name, count: 10_000).utf8))
    }
    try writer.finish()
    let archive = archive
    entries = try ["a", "b", "c"].compactMap { try ZipDirectory(archive).entry(named: $0) }
  }

  /// Views a file and returns its first byte, and whether it was made anew.
  private func view(_ index: Int, in cache: ViewerCache) throws -> (first: UInt8?, isNew: Bool) {
    var isNew = false
    let key = ViewerCache.Key(bundle: "x", path: entries[index].name)
    let file = try cache.file(key, entries[index], of: archive) { bytes throws(ViewerError) in
      isNew = true
      return ViewedFile(bytes: bytes, json: nil)
    }
    #expect(file.bytes.size == 10_000)
    #expect(try file.bytes.read(upTo: 20_000, at: 9_000).count == 1_000)
    #expect(try file.bytes.read(upTo: 1, at: 10_000).isEmpty)
    return (try file.bytes.read(upTo: 1, at: 0).first, isNew)
  }

  @Test func `a file is inflated once, into a file without a name`() throws {
    let cache = ViewerCache(CopySpace(folder: folder.path))
    #expect(try view(0, in: cache) == (UInt8(ascii: "a"), true))
    #expect(try view(0, in: cache) == (UInt8(ascii: "a"), false))
    #expect(try view(1, in: cache) == (UInt8(ascii: "b"), true))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["bundle.zip"])
  }

  @Test(arguments: [(2, 1 << 20), (9, 20_000)])
  func `the files that were used last are kept, up to a number and a size`(files: Int, bytes: Int) throws {
    var limits = ViewerCache.Limits()
    (limits.files, limits.diskBytes) = (files, bytes)
    let cache = ViewerCache(CopySpace(folder: folder.path), limits: limits)
    #expect(try view(0, in: cache).isNew)
    #expect(try view(1, in: cache).isNew)
    #expect(try !view(0, in: cache).isNew)
    #expect(try view(2, in: cache).isNew)
    #expect(cache.count == 2)
    #expect(try !view(0, in: cache).isNew)
    #expect(try view(1, in: cache).isNew)
  }

  @Test(.timeLimit(.minutes(5 * Sanitizer.slowness)))
  func `a file leaves the cache some time after its last use`() async throws {
    var limits = ViewerCache.Limits()
    limits.seconds = 0
    let cache = ViewerCache(CopySpace(folder: folder.path), limits: limits)
    _ = try view(0, in: cache)
    try await eventually { cache.count == 0 }
    #expect(try view(0, in: cache).isNew)
  }

  @Test func `a large file is read while it is inflated, and not cached if it is damaged`() throws {
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
    let path = folder.file("large.zip").path
    let large = try File(path, .create(mode: 0o600))
    let writer = ZipWriter(large)
    try writer.add("large", bytes: bytes)
    try writer.finish()
    let entry = try #require(try ZipDirectory(large).entry(named: "large"))
    let cache = ViewerCache(CopySpace(folder: folder.path))
    func read(_ path: String) throws -> [UInt8] {
      var contents: [UInt8] = []
      let key = ViewerCache.Key(bundle: path, path: "large")
      _ = try cache.file(key, entry, of: try File(path, .read)) { bytes throws(ViewerError) in
        while case let piece = try bytes.read(upTo: 99_999, at: contents.count), !piece.isEmpty {
          contents += piece
        }
        return ViewedFile(bytes: bytes, json: nil)
      }
      return contents
    }
    #expect(try read(path) == bytes)
    let damaged = folder.file("damaged.zip").path
    try FileManager.default.copyItem(atPath: path, toPath: damaged)
    let middle = entry.dataOffset + entry.compressedSize / 2
    let file = try File(damaged, .update)
    let byte = try #require(try file.read(upTo: 1, at: middle).first)
    try file.write([byte ^ 0x10], at: middle)
    #expect(throws: ViewerError.self) { try read(damaged) }
    #expect(cache.count == 1)
  }

  @Test func `a folder that can't be written is an error`() throws {
    let cache = ViewerCache(CopySpace(folder: folder.path + "/missing"))
    #expect(throws: ViewerError.self) { try view(0, in: cache) }
    #expect(cache.count == 0)
  }

  @Test(arguments: [(0, true), (-1, false)])
  func `copies leave the reserve of the disk free`(spare: Int64, fits: Bool) throws {
    let space = CopySpace(folder: folder.path, reserve: 5_000) { _ in 5_000 + 10_000 + spare }
    let cache = ViewerCache(space)
    if fits {
      #expect(try view(0, in: cache).isNew)
    } else {
      #expect { try view(0, in: cache) } throws: { $0.isOutOfSpace }
      #expect(cache.count == 0)
    }
  }

  @Test func `copies give their space back at once, and are made again`() throws {
    let space = CopySpace(folder: folder.path)
    let cache = ViewerCache(space)
    var viewed: ViewedFile?
    let key = ViewerCache.Key(bundle: "x", path: "a")
    _ = try cache.file(key, entries[0], of: archive) { bytes throws(ViewerError) in
      let file = ViewedFile(bytes: bytes, json: nil)
      viewed = file
      return file
    }
    let bytes = try #require(viewed).bytes
    #expect(try bytes.place.file.size == 10_000)
    space.reclaim()
    #expect(try bytes.place.file.size == 0)
    #expect { try bytes.read(upTo: 10, at: 0) } throws: { $0.isOutOfSpace }
    #expect(try view(0, in: cache).isNew)
    #expect(try !view(0, in: cache).isNew)
  }

  @Test func `a copy that is being made ends when its space is given back`() throws {
    // The free space is measured before each write: at the second one, an upload needs it.
    let writes = Lock(0)
    let reclaim = Lock<@Sendable () -> Void>({})
    let space = CopySpace(folder: folder.path, reserve: 0) { _ in
      let count = writes.withLock { count in
        count += 1
        return count
      }
      if count == 2 { reclaim.withLock(\.self)() }
      return .max
    }
    reclaim.withLock { $0 = { [weak space] in space?.reclaim() } }
    let archive = try File(folder.file("large.zip").path, .create(mode: 0o600))
    let writer = ZipWriter(archive)
    try writer.add("large", bytes: [UInt8](repeating: 7, count: 3_000_000))
    try writer.finish()
    let entry = try #require(try ZipDirectory(archive).entry(named: "large"))
    let bytes = try ViewedBytes(entry, of: archive, in: space)
    #expect { try bytes.complete() } throws: { $0.isOutOfSpace }
    #expect(try bytes.place.file.size == 0)
  }
}

extension Error {
  fileprivate var isOutOfSpace: Bool {
    if case ViewerError.outOfSpace? = self as? ViewerError { true } else { false }
  }
}
