import Foundation
import SnapshotSealing
import TestSupport
import Testing

/// Other implementations of the format open what is sealed here, and the reverse.
///
/// `age` is tried if it is installed. `Tests/Sealing/run` names more programs with its command line in the variable
/// `AGE_PROGRAMS`, separated by commas, and the number of files in `AGE_FILES`.
@Suite(.enabled(if: !otherPrograms.isEmpty, "age isn't installed: `apt-get install age`"))
struct InteroperabilityTests {
  private static let count = Int(ProcessInfo.processInfo.environment["AGE_FILES"] ?? "") ?? 12
  /// The number of files of up to 100 MB among them.
  private static var largeCount: Int { count / 50 }

  /// Sizes at the borders of chunks, small ones, and a few large ones.
  private static func size(_ index: Int, _ generator: inout SeededGenerator) -> Int {
    let borders = [0, 1, 65_535, 65_536, 65_537, 131_072, 131_073, 196_608]
    if index < borders.count { return borders[index] }
    if index >= count - largeCount { return Int.random(in: 1_000_000...100_000_000, using: &generator) }
    let chunks = Int.random(in: 0...8, using: &generator) * 65_536
    return index.isMultiple(of: 3)
      ? max(0, chunks + Int.random(in: -20...20, using: &generator))
      : Int.random(in: 0...200_000, using: &generator)
  }

  @Test(arguments: otherPrograms) func `files are opened in both directions`(program: String) async throws {
    let folder = try TemporaryFolder()
    let identities = [SealingIdentity.generate(), .generate()]
    let keys = try folder.write(
      Data(IdentityFile.contents(of: identities[0], createdAt: "2026-01-01T00:00:00Z").utf8), to: "keys")
    let (plain, sealedFile) = (folder.url.appending(path: "plain"), folder.url.appending(path: "sealed"))
    var generator = SeededGenerator(seed: 7)
    var bytes = 0
    for index in 0..<Self.count {
      let size = Self.size(index, &generator)
      bytes += size
      var contents = [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: size)
      for place in stride(from: 0, to: size, by: max(1, size / 5_000)) {
        contents[place] = UInt8.random(in: 0...255, using: &generator)
      }
      try Data(sealed(contents, to: identities.map(\.recipient))).write(to: sealedFile)
      // Some programs create no file for nothing.
      try Data().write(to: plain)
      let opened = try await Tool.run(program, ["-d", "-i", keys.path, "-o", plain.path, sealedFile.path])
      try #require(opened.status == 0, "\(size) bytes: \(opened.errors)")
      #expect(try Data(contentsOf: plain) == Data(contents), "\(size) bytes")

      try Data(contents).write(to: plain)
      let recipients = identities.reversed().flatMap { ["-r", $0.recipient.description] }
      let made = try await Tool.run(program, recipients + ["-o", sealedFile.path, plain.path])
      try #require(made.status == 0, "\(size) bytes: \(made.errors)")
      let file = Array(try Data(contentsOf: sealedFile))
      #expect(Opening(file, with: [identities[index % 2]]) == Opening(contents: contents), "\(size) bytes")
    }
    print("\(program): \(Self.count) files of together \(bytes) bytes, both ways")
  }

  @Test(.enabled(if: Tool.find("age-keygen") != nil, "age-keygen isn't installed: `apt-get install age`"))
  func `age-keygen's files are read, and it knows the recipients of ours`() async throws {
    let folder = try TemporaryFolder()
    let made = try await Tool.run("age-keygen", [])
    let file = try IdentityFile(Array(made.output))
    #expect(made.text.contains(file.identities[0].recipient.description))

    let identity = SealingIdentity.generate()
    let keys = try folder.write(
      Data(IdentityFile.contents(of: identity, createdAt: "2026-01-01T00:00:00Z").utf8), to: "keys")
    let recipient = try await Tool.run("age-keygen", ["-y", keys.path])
    #expect(recipient.lines == [identity.recipient.description])
  }
}

/// The programs to compare with.
private let otherPrograms: [String] = {
  let named = ProcessInfo.processInfo.environment["AGE_PROGRAMS"].map {
    $0.split(separator: ",").map(String.init)
  }
  return named ?? [Tool.find("age")].compactMap { $0 }
}()
