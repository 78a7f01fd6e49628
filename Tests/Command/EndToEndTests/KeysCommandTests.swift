import Foundation
import SnapshotSealing
import SystemIO
import TestSupport
import Testing

/// `snapshot keys create` and `recipients`.
@Suite struct KeysCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func run(_ arguments: [String]) async throws -> Tool.Outcome {
    try await Product.run(["keys"] + arguments)
  }

  @Test(arguments: [[], ["--post-quantum"]]) func `a key is made once, for its owner only`(options: [String])
    async throws
  {
    let file = folder.file("team.key")
    let made = try await run(["create", "--output", file.path] + options)
    try #require(made.status == 0, "\(made.errors)")
    let recipient = try SealingRecipient(try #require(made.lines.first))
    #expect(made.lines.count == 1 && made.errors.contains("secret identity"))
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let contents = try Data(contentsOf: file)
    #expect(try IdentityFile(Array(contents)).identities.map(\.recipient) == [recipient])
    #expect(!(made.text + made.errors).contains("AGE-SECRET-KEY"))

    let again = try await run(["create", "--output", file.path])
    #expect(again.status == 2 && again.text.isEmpty && again.errors.contains("never overwritten"))
    #expect(try Data(contentsOf: file) == contents)
    #expect(try await run(["recipients", file.path]).lines == [recipient.description])
  }

  @Test func `a file without identities is refused with the line and the reason`() async throws {
    for (contents, reason) in [
      ("", "no identity"), ("\nAGE-PLUGIN-YUBIKEY-1QQ\n", "line 2"), ("AGE-SECRET-KEY-1QQ", "Line 1"),
    ] {
      let file = try folder.write(Data(contents.utf8), to: "keys")
      let outcome = try await run(["recipients", file.path])
      #expect(
        outcome.status == 2 && outcome.text.isEmpty && outcome.errors.contains(reason), "\(outcome.errors)")
      #expect(outcome.errors.split(separator: "\n").count == 1)
    }
    let missing = try await run(["recipients", folder.file("nothing").path])
    #expect(missing.status == 2 && missing.errors.contains("there is no such file"))
  }

  @Test(.enabled(if: Tool.find("age-keygen") != nil, "age-keygen isn't installed: `apt-get install age`"))
  func `age reads the file`() async throws {
    let file = folder.file("team.key")
    let made = try await run(["create", "--output", file.path])
    #expect(try await Tool.run("age-keygen", ["-y", file.path]).lines == made.lines)
  }
}
