import Foundation
import SnapshotSealing
import TestSupport
import Testing

/// A gigabyte, sealed and opened. Only for measuring: `AGE_GIGABYTE=1`.
@Suite(
  .serialized, .enabled(if: ProcessInfo.processInfo.environment["AGE_GIGABYTE"] != nil, "only for measuring"))
struct GigabyteTests {
  private static let size = 1 << 30

  /// The memory of the process in bytes.
  private static func memory() throws -> Int {
    let words = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return try #require(Int(words[1])) * 4_096
  }

  @Test func `it takes a few megabytes, and not much longer than age`() async throws {
    let identity = SealingIdentity.generate()
    let piece = [UInt8](repeating: 0x61, count: 1 << 20)
    let idle = try Self.memory()
    var (largest, opened) = (idle, 0)
    var (sealing, opening) = (Duration.zero, Duration.zero)
    let clock = ContinuousClock()
    var sealer = try Sealer(to: [identity.recipient])
    var unsealer = Unsealer(with: [identity])
    var sealed = sealer.header
    for _ in 0..<Self.size / piece.count {
      sealing += try clock.measure { sealed += try sealer.seal(piece) }
      opening += try clock.measure { opened += try unsealer.open(sealed).count }
      sealed = []
      largest = max(largest, try Self.memory())
    }
    opened += try unsealer.open(sealer.finish()).count + unsealer.finish().count
    #expect(opened == Self.size)
    print("memory: \((largest - idle) >> 10) KiB more than idle; sealed in \(sealing), opened in \(opening)")
    #expect(largest - idle < 8 << 20)

    let folder = try TemporaryFolder()
    let keys = try folder.write(
      Data(IdentityFile.contents(of: identity, createdAt: "2026-01-01T00:00:00Z").utf8), to: "keys")
    let (plain, file) = (folder.url.appending(path: "plain"), folder.url.appending(path: "sealed"))
    _ = try await Tool.run("truncate", ["-s", "1G", plain.path])
    for arguments in [
      ["-r", identity.recipient.description, "-o", file.path, plain.path],
      ["-d", "-i", keys.path, "-o", "/dev/null", file.path],
    ] {
      let begin = clock.now
      #expect(try await Tool.run("age", arguments).status == 0)
      print("age \(arguments[0]): \(clock.now - begin)")
    }
  }
}
