import SystemIO
import TestSupport
import Testing
@testable import ZipArchive

/// Damage to valid archives, by a disk, by a transfer or by an attacker.
@Suite struct DamageTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let contents: [(name: String, bytes: [UInt8])] = [
    ("folder/", []), ("folder/ß.txt", Array(String(repeating: "words and ", count: 20).utf8)),
    ("stored", Array("xyz".utf8)), ("empty", []),
  ]

  private func archive(thresholds: ZipWriter.Thresholds = .init()) throws -> [UInt8] {
    let file = try File(folder.path + "/\(UInt64.random(in: 0 ... .max))", .create(mode: 0o600))
    let writer = ZipWriter(file, thresholds: thresholds)
    for entry in Self.contents { try writer.add(entry.name, bytes: entry.bytes) }
    return try file.read(upTo: Int(writer.finish()), at: 0)
  }

  /// The contents of `bytes` as an archive, or `nil` if it is rejected.
  private func contents(_ bytes: [UInt8]) throws -> [String: [UInt8]]? {
    do {
      let reader = try open(bytes, in: folder)
      var contents: [String: [UInt8]] = [:]
      for entry in reader.entries { contents[entry.name] = try reader.contents(of: entry, upTo: 1000) }
      return contents
    } catch is ZipError {
      return nil
    }
  }

  private static let wide = [ZipWriter.Thresholds(), ZipWriter.Thresholds(size: 1, entries: 1)]

  @Test(arguments: [0, 1]) func `an archive truncated at any position is rejected`(width: Int) throws {
    let bytes = try archive(thresholds: Self.wide[width])
    for length in bytes.indices {
      #expect(try contents(Array(bytes.prefix(length))) == nil, "\(length)")
      #expect(try contents(Array(bytes.suffix(length))) == nil, "last \(length)")
    }
  }

  @Test(arguments: [0, 1]) func `a changed byte is rejected or changes no contents`(width: Int) throws {
    let bytes = try archive(thresholds: Self.wide[width])
    let expected = try #require(try contents(bytes))
    #expect(expected.count == Self.contents.count)
    for index in bytes.indices {
      for change in [0x01, 0xFF] as [UInt8] {
        var changed = bytes
        changed[index] ^= change
        if let found = try contents(changed) { #expect(found == expected, "\(index) ^ \(change)") }
      }
    }
  }

  @Test func `an added or removed byte is rejected, except before or after the archive`() throws {
    let bytes = try archive()
    let expected = try contents(bytes)
    for index in bytes.indices {
      var longer = bytes
      longer.insert(0, at: index)
      let isAround = longer == [0] + bytes || longer == bytes + [0]
      #expect(try contents(longer) == (isAround ? expected : nil), "one more at \(index)")
      var shorter = bytes
      shorter.remove(at: index)
      #expect(try contents(shorter) == nil, "one less at \(index)")
    }
  }
}
