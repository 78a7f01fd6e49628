import Dispatch
import Foundation
import SystemIO
import TestSupport
import Testing

@testable import ZipArchive

@Suite struct ZipWriterTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func newFile() throws -> File {
    try File(folder.path + "/\(UInt64.random(in: 0 ... .max))", .create(mode: 0o600))
  }

  private func bytes(_ file: File) throws -> [UInt8] { try file.read(upTo: Int(file.size), at: 0) }

  /// Incompressible bytes, always the same.
  private func noise(_ count: Int) -> [UInt8] {
    var state: UInt64 = 88_172_645_463_325_252
    return (0..<count).map { _ in
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return UInt8(truncatingIfNeeded: state >> 32)
    }
  }

  /// Compressible bytes.
  private func words(_ count: Int) -> [UInt8] {
    let text = Array((0..<min(count, 5000)).map { "word \($0 % 977) " }.joined().utf8)
    return (0..<count).map { text[$0 % text.count] }
  }

  @Test func `written entries are read back`() throws {
    let file = try newFile()
    let writer = ZipWriter(file)
    let entries: [(String, [UInt8])] = [
      ("a/", []), ("a/text", words(300_000)), ("a/noise", noise(300_000)), ("empty", []), ("one", [1]),
      ("😀 long \(String(repeating: "x", count: 2000))", words(10)),
    ]
    for (name, bytes) in entries { try writer.add(name, bytes: bytes) }
    #expect(try writer.finish() == file.size)
    let reader = try ZipReader(file)
    #expect(reader.entries.map(\.name) == entries.map(\.0))
    #expect(reader.entries.map(\.method) == [.stored, .deflate, .stored, .stored, .stored, .stored])
    for (entry, (_, bytes)) in zip(reader.entries, entries) {
      #expect(try reader.contents(of: entry, upTo: bytes.count) == bytes)
    }
  }

  @Test func `an archive without entries consists of the end record only`() throws {
    let file = try newFile()
    #expect(try ZipWriter(file).finish() == 22)
    #expect(try ZipReader(file).entries.isEmpty)
  }

  @Test func `the same entries give the same bytes, from memory, from files, and in parallel`() throws {
    var sources: [(name: String, path: String)] = []
    let sizes = [0, 1, 100, 65_536, 262_143, 262_144, 262_145, 600_000, 5000]
    for (index, size) in (sizes + (0..<150).map { $0 * 37 }).enumerated() {
      let data = index % 3 == 2 ? noise(min(size, 300_000)) : words(size)
      let url = try folder.write(Data(data), to: "source-\(index)")
      sources.append(("entry \(index)", url.path))
    }
    // More files than are deflated in advance.
    let large = try File(folder.path + "/large", .create(mode: 0o600))
    try large.truncate(to: 17 << 20)
    try large.write(words(5000), at: 9 << 20)
    sources.insert(("large", large.path), at: 80)
    let (first, second, third) = (try newFile(), try newFile(), try newFile())
    let fromMemory = ZipWriter(first)
    let fromFiles = ZipWriter(second)
    let atOnce = ZipWriter(third)
    for (name, path) in sources {
      let source = try File(path)
      try fromMemory.add(name, bytes: source.read(upTo: Int(source.size), at: 0))
      try fromFiles.add(name, contentsOf: source)
    }
    try atOnce.addFiles(sources)
    try fromMemory.finish()
    try fromFiles.finish()
    try atOnce.finish()
    let expected = try bytes(first)
    #expect(try bytes(second) == expected)
    #expect(try bytes(third) == expected)
    try ZipReader(third).verify()
  }

  @Test(arguments: [0, 1, 9] as [Int32]) func `every level gives the same contents`(level: Int32) throws {
    let file = try newFile()
    let writer = ZipWriter(file, level: level)
    let words = words(100_000)
    try writer.add("a", bytes: words)
    try writer.finish()
    let reader = try ZipReader(file)
    #expect(reader.entries[0].method == (level == 0 ? .stored : .deflate))
    #expect(try reader.contents(of: reader.entries[0], upTo: words.count) == words)
  }

  @Test func `an earlier, longer archive in the file is overwritten completely`() throws {
    let file = try newFile()
    try file.write(noise(5000), at: 0)
    try ZipWriter(file).finish()
    #expect(try file.size == 22)
  }

  @Test func `an entry that fails is not in the archive, which remains usable`() throws {
    let file = try newFile()
    let writer = ZipWriter(file)
    try writer.add("a", bytes: [1])
    let source = try File(folder.path)
    #expect(throws: ZipError(.notARegularFile, entry: "folder")) {
      try writer.add("folder", contentsOf: source)
    }
    #expect(throws: ZipError(.duplicateName, entry: "a")) { try writer.add("a", bytes: [2]) }
    #expect(throws: ZipError(.folderWithContents, entry: "b/")) { try writer.add("b/", bytes: [2]) }
    try writer.add("b", bytes: [3])
    try writer.finish()
    #expect(try ZipReader(file).entries.map(\.name) == ["a", "b"])
  }

  @Test func `files before the one that fails are in the archive`() throws {
    let file = try newFile()
    let writer = ZipWriter(file)
    let path = try folder.write(Data([1, 2, 3]), to: "source").path
    let failure = #expect(throws: ZipError.self) {
      try writer.addFiles([("a", path), ("b", path), ("c", path + "-missing"), ("d", path)])
    }
    #expect(failure?.entry == "c")
    guard case .system(let cause) = failure?.reason else {
      Issue.record("not a system error: \(String(describing: failure))")
      return
    }
    #expect(cause.isNotFound)
    #expect(throws: ZipError(.name(.dotPart), entry: "..")) {
      try writer.addFiles([("e", path), ("..", path)])
    }
    try writer.finish()
    #expect(try ZipReader(file).entries.map(\.name) == ["a", "b", "e"])
  }

  @Test func `a finished archive accepts no more entries`() throws {
    let file = try newFile()
    let writer = ZipWriter(file)
    try writer.finish()
    #expect(throws: ZipError(.finished, entry: "a")) { try writer.add("a", bytes: []) }
    #expect(throws: ZipError(.finished)) { try writer.finish() }
    #expect(try file.size == 22)
  }

  @Test func `a full disk is reported with the entry`() throws {
    let path = try folder.write(Data(), to: "read-only").path
    let failure = #expect(throws: ZipError.self) {
      try ZipWriter(File(path)).add("a", bytes: [1])
    }
    #expect(failure?.entry == "a")
  }

  @Test func `ZIP64 records are written from their thresholds on, and read`() throws {
    let entries = [("a", words(200)), ("b", noise(200)), ("c", [1]), ("d", [])]
    for size in [1, 2, 150, 200, 201, 300, 1000] as [Int64] {
      for count in [1, 4, 5] {
        let file = try newFile()
        let writer = ZipWriter(file, thresholds: .init(size: size, entries: count))
        for (name, bytes) in entries { try writer.add(name, bytes: bytes) }
        try writer.finish()
        let reader = try ZipReader(file)
        for (entry, (name, bytes)) in zip(reader.entries, entries) {
          #expect(entry.name == name)
          #expect(try reader.contents(of: entry, upTo: 1000) == bytes)
        }
      }
    }
  }

  @Test func `an entry beyond 4 GiB is read`() throws {
    let file = try newFile()
    let size: Int64 = 5 << 30
    // The first entry is a hole in the file. Its headers are checked, and its contents are never read.
    let big = EntryHeader("big", offset: 0, size: size, .init())
    try file.write(big.local, at: 0)
    var small = EntryHeader("small", offset: big.localLength + size, size: 3, .init())
    small.encoded.crc32 = ArchiveBuilder.crc32([1, 2, 3])
    try file.write(small.local + [1, 2, 3], at: big.localLength + size)
    let directory = big.central + small.central
    let offset = UInt64(big.localLength + size + small.localLength + 3)
    let end = ArchiveBuilder.zip64End(
      entries: 2, size: UInt64(directory.count), offset: offset, at: offset + UInt64(directory.count))
    let plain = ArchiveBuilder().with {
      $0.count = 2
      $0.directorySize = UInt32(directory.count)
      $0.directoryOffset = .max
    }
    try file.write(directory + end + plain.bytes, at: Int64(offset))
    var limits = ZipLimits()
    limits.entrySize = size
    let reader = try ZipReader(file, limits: limits)
    #expect(reader.entries.map(\.size) == [size, 3])
    #expect(try reader.contents(of: reader.entries[1], upTo: 3) == [1, 2, 3])
    #expect(throws: ZipError(.limit(.entrySize), entry: "big")) { try ZipReader(file) }
  }

  @Test func `more than 65,535 entries need ZIP64 and are read`() throws {
    let file = try newFile()
    let writer = ZipWriter(file)
    for index in 0..<65_536 { try writer.add("\(index)", bytes: []) }
    try writer.finish()
    let reader = try ZipReader(file)
    #expect(reader.entries.count == 65_536)
    #expect(reader.entry(named: "65535") != nil)
  }

  @Test func `an archive is read from many threads at once`() throws {
    let file = try newFile()
    let writer = ZipWriter(file)
    let contents = (0..<8).map { words(50_000 + $0) }
    for (index, bytes) in contents.enumerated() { try writer.add("\(index)", bytes: bytes) }
    try writer.finish()
    let reader = try ZipReader(file)
    let wrong = Lock(0)
    DispatchQueue.concurrentPerform(iterations: 64) { index in
      do {
        let bytes = try reader.contents(of: reader.entries[index % 8], upTo: 100_000)
        var pieces: [UInt8] = []
        try reader.read(reader.entries[(index + 1) % 8]) { pieces += $0 }
        try reader.verify()
        if bytes != contents[index % 8] || pieces != contents[(index + 1) % 8] { wrong.withLock { $0 += 1 } }
      } catch {
        wrong.withLock { $0 += 1 }
      }
    }
    #expect(wrong.withLock { $0 } == 0)
  }
}
