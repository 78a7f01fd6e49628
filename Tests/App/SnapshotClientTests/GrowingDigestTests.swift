import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

@testable import SnapshotClient

@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct GrowingDigestTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("growing").path
  }

  @Test(arguments: [0, 1, 128 << 10, 300_000])
  func `the digest of a growing file is that of all its bytes`(count: Int) throws {
    let bytes = Array(makeBytes(count))
    let digest = GrowingDigest(of: path)
    let file = try File(path, .create(mode: 0o600))
    for start in stride(from: 0, to: count, by: 70_000) {
      let end = min(start + 70_000, count)
      try file.write(Array(bytes[start..<end]), at: Int64(start))
      digest.follow(to: Int64(end))
    }
    let whole = try digest.finish { false }
    #expect(whole.size == Int64(count))
    #expect(whole.sha256 == .of(bytes))
  }

  @Test func `bytes before a restart do not count`() throws {
    let digest = GrowingDigest(of: path)
    digest.follow(to: 10)
    try Data(repeating: 1, count: 500_000).write(to: URL(filePath: path))
    digest.follow(to: 500_000)
    digest.restart()
    _ = try digest.finish { true }
    digest.restart()
    try Folder.remove(path)
    let bytes = Array(makeBytes(1000))
    try Data(bytes).write(to: URL(filePath: path))
    let whole = try digest.finish { false }
    #expect(whole.size == 1000)
    #expect(whole.sha256 == .of(bytes))
  }

  @Test func `a missing file is an error`() {
    let digest = GrowingDigest(of: path)
    #expect(throws: SystemError.self) { try digest.finish { false } }
  }
}
