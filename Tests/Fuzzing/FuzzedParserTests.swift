import Foundation
import Testing

/// Replays the seeds of libFuzzer and the inputs that it has found to fail.
@Suite struct FuzzedParserTests {
  @Test(arguments: FuzzedParser.allCases)
  func `what is kept breaks no parser`(parser: FuzzedParser) throws {
    let inputs = try Self.inputs(of: parser)
    #expect(inputs.contains { $0.path.contains("/Seeds/") }, "there are no seeds")
    for input in inputs {
      do {
        try parser.check(Array(try Data(contentsOf: input)))
      } catch {
        Issue.record("\(input.lastPathComponent): \(error)")
      }
    }
  }

  @Test(arguments: FuzzedParser.allCases)
  func `no beginning and no flipped bit of a seed breaks its parser`(parser: FuzzedParser) throws {
    for input in try Self.inputs(of: parser) {
      let bytes = Array(try Data(contentsOf: input))
      for index in stride(from: 0, to: bytes.count, by: 1 + bytes.count / 64) {
        var flipped = bytes
        flipped[index] ^= 1 << (index % 8)
        do {
          try parser.check(Array(bytes[..<index]))
          try parser.check(flipped)
        } catch {
          Issue.record("\(input.lastPathComponent) at \(index): \(error)")
        }
      }
    }
  }

  @Test func `a property that is broken is seen`() {
    #expect(throws: BrokenProperty.self) { try require(false, "broken") }
    #expect(throws: Never.self) { try require(true, "broken") }
  }

  private static func inputs(of parser: FuzzedParser) throws -> [URL] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    var inputs: [URL] = []
    for kind in ["Seeds", "Found"] {
      let kept = folder.appending(path: "\(kind)/\(parser.rawValue)")
      guard FileManager.default.fileExists(atPath: kept.path) else { continue }
      inputs += try FileManager.default.contentsOfDirectory(at: kept, includingPropertiesForKeys: nil)
    }
    return inputs.sorted { $0.path < $1.path }
  }
}
