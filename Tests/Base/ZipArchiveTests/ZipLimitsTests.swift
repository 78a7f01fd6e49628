import SystemIO
import TestSupport
import Testing
import ZipArchive

/// Tests each limit below, at and above the actual value, for the reader and the writer.
@Suite struct ZipLimitsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Sets `limit` below, at and above `value`, writes and reads an archive, and expects only the first to fail.
  private func expect<Value: FixedWidthInteger>(
    _ limit: WritableKeyPath<ZipLimits, Value>, _ reason: ZipError.Limit, at value: Value,
    _ entries: [(name: String, bytes: [UInt8])], others: ZipLimits = .default
  ) throws {
    let whole = try archive(entries, .default)
    for offset in [-1, 0, 1] as [Value] {
      var limits = others
      limits[keyPath: limit] = value + offset
      let expected: ZipError.Reason? = offset < 0 ? .limit(reason) : nil
      #expect(try refusal(of: whole, limits: limits, in: folder)?.reason == expected, "read, \(offset)")
      var written: ZipError?
      do { _ = try archive(entries, limits) } catch let error as ZipError { written = error }
      #expect(written?.reason == expected, "written, \(offset)")
    }
  }

  private func archive(_ entries: [(name: String, bytes: [UInt8])], _ limits: ZipLimits) throws -> [UInt8] {
    let file = try File(folder.path + "/\(UInt64.random(in: 0 ... .max))", .create(mode: 0o600))
    let writer = ZipWriter(file, limits: limits)
    for entry in entries { try writer.add(entry.name, bytes: entry.bytes) }
    return try file.read(upTo: Int(writer.finish()), at: 0)
  }

  @Test func `the number of entries has a limit`() throws {
    try expect(\.entries, .entries, at: 3, [("a", []), ("b", []), ("c", [])])
  }

  @Test func `the length of a name has a limit in bytes`() throws {
    try expect(\.nameLength, .nameLength, at: 7, [("a/ß/é", []), ("x", [])])
  }

  @Test func `the depth of a name has a limit`() throws {
    try expect(\.depth, .depth, at: 3, [("a/b/c", [])])
    try expect(\.depth, .depth, at: 3, [("a/b\\c/", [])])
  }

  @Test func `the number of explicit and implied folders has a limit`() throws {
    try expect(\.folders, .folders, at: 3, [("a/b/x", [1]), ("c/", []), ("c/y", []), ("z", [])])
    try expect(\.folders, .folders, at: 2, [("a/b/", []), ("a/", []), ("A/x", [])])
    try expect(\.folders, .folders, at: 4, [("a/b/c/d/x", [])])
  }

  @Test func `the size of an entry has a limit`() throws {
    try expect(\.entrySize, .entrySize, at: 100, [("a", [UInt8](repeating: 7, count: 100)), ("b", [1])])
  }

  @Test func `the size of all entries has a limit`() throws {
    let bytes = [UInt8](repeating: 7, count: 100)
    try expect(\.totalSize, .totalSize, at: 201, [("a", bytes), ("b", bytes), ("c", [1])])
  }

  @Test func `the compression ratio has a limit above a threshold`() throws {
    let entry = ArchiveBuilder.Entry("a", [UInt8](repeating: 0, count: 10)).with {
      $0.method = 8
      $0.size = 1000
    }
    var limits = ZipLimits()
    limits.ratioThreshold = 999
    for (ratio, reason) in [(99, ZipError.Reason.limit(.ratio)), (100, .corruptData), (101, .corruptData)] {
      limits.ratio = Int64(ratio)
      #expect(
        try refusal(of: ArchiveBuilder(entry), limits: limits, in: folder)?.reason == reason, "\(ratio)")
    }
    limits.ratio = 1
    for (threshold, reason) in [
      (999, ZipError.Reason.limit(.ratio)), (1000, .corruptData), (1001, .corruptData),
    ] {
      limits.ratioThreshold = Int64(threshold)
      #expect(
        try refusal(of: ArchiveBuilder(entry), limits: limits, in: folder)?.reason == reason, "\(threshold)")
    }
  }

  @Test func `the compression ratio of all entries together has a limit`() throws {
    let entries = (0..<10).map { number in
      ArchiveBuilder.Entry("\(number)", [0]).with {
        $0.method = 8
        $0.size = 1000
      }
    }
    var builder = ArchiveBuilder()
    builder.entries = entries
    let length = Int64(builder.bytes.count)
    var limits = ZipLimits()
    limits.ratio = 10_000 / length
    limits.ratioThreshold = 1000
    limits.totalRatioThreshold = 9999
    #expect(try refusal(of: builder, limits: limits, in: folder) == ZipError(.limit(.ratio)))
    limits.ratio += 1
    #expect(try refusal(of: builder, limits: limits, in: folder)?.reason == .corruptData)
    limits.ratio = 1
    limits.totalRatioThreshold = 10_000
    #expect(try refusal(of: builder, limits: limits, in: folder)?.reason == .corruptData)
  }

  @Test(arguments: [64 << 10, (64 << 10) + 1, 1 << 20])
  func `many small entries with a repeated pattern stay within the reader's ratio limit`(size: Int) throws {
    var limits = ZipLimits()
    limits.totalRatioThreshold = 0
    let zeros = [UInt8](repeating: 0, count: size)
    let bytes = try archive((0..<20).map { ("\($0)", zeros) }, .default)
    #expect(try refusal(of: bytes, limits: limits, in: folder) == nil)
  }

  @Test(arguments: ZipError.Limit.allCases)
  func `a limit is described in words, not by the name of its property`(limit: ZipError.Limit) {
    let words = ZipError(.limit(limit), entry: "a").description
    #expect(words.hasPrefix("The entry \"a\" ") && words.contains("allowed"))
    #expect(!words.contains("over the limit"))
  }

  @Test func `the number of bytes before the archive has a limit`() throws {
    let builder = ArchiveBuilder(.init("a")).with { $0.leading = [UInt8](repeating: 32, count: 70_000) }
    for (limit, isTaken) in [(69_999, false), (70_000, true), (70_001, true)] {
      var limits = ZipLimits()
      limits.leadingBytes = Int64(limit)
      let reason = try refusal(of: builder, limits: limits, in: folder)?.reason
      #expect(reason == (isTaken ? nil : .limit(.leadingBytes)))
    }
  }

  @Test func `contents larger than declared are rejected while inflating`() throws {
    let bomb = try archive([("a", [UInt8](repeating: 0, count: 1_000_000))], .default)
    var patched = bomb
    for index in 0..<(bomb.count - 4)
    where Array(bomb[index..<(index + 4)]) == ArchiveBuilder.le(UInt32(1_000_000)) {
      patched.replaceSubrange(index..<(index + 4), with: ArchiveBuilder.le(UInt32(1000)))
    }
    let reader = try open(patched, in: folder)
    var seen = 0
    #expect(throws: ZipError(.sizeDiffers, entry: "a")) {
      try reader.read(reader.entries[0]) { seen += $0.count }
    }
    #expect(seen <= 1000)
  }

  @Test func `contents that shrink too much are written within the reader's ratio limit`() throws {
    let zeros = [UInt8](repeating: 0, count: 3 << 20)
    let bytes = try archive([("zeros", zeros)], .default)
    let reader = try open(bytes, in: folder)
    #expect(reader.entries[0].method == .deflate)
    #expect(try reader.contents(of: reader.entries[0], upTo: zeros.count) == zeros)
    #expect(bytes.count < zeros.count / 7)
  }

  @Test func `unreadable entries can declare any sizes`() throws {
    let entry = ArchiveBuilder.Entry("a").with {
      $0.method = 9
      $0.size = .max - 1
    }
    #expect(try refusal(of: ArchiveBuilder(entry), in: folder)?.reason == .unsupportedMethod(9))
  }
}
