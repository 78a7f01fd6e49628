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

  /// Runs a command on a terminal, and types "correct horse" whenever a passphrase is asked for.
  private static let typing = """
    import os, pty, sys
    child, terminal = pty.fork()
    if child == 0: os.execvp(sys.argv[1], sys.argv[1:])
    output = asked = b""
    while True:
      try: piece = os.read(terminal, 4096)
      except OSError: break
      if not piece: break
      output += piece; asked += piece
      if b"assphrase" in asked and b": " in asked[asked.rfind(b"assphrase"):]:
        asked = b""
        os.write(terminal, b"correct horse\\n")
    sys.stdout.buffer.write(output)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """

  @Test(
    .enabled(
      if: Tool.find("age") != nil && Tool.find("python3") != nil,
      "age or Python isn't installed: `apt-get install age python3`"))
  func `identities that age encrypted open a snapshot after the passphrase was typed`() async throws {
    let keys = folder.file("team.key")
    let recipient = try #require(try await run(["create", "--output", keys.path]).lines.first)
    let encrypted = folder.file("team.age")
    let typed = ["-c", Self.typing]
    let made = try await Tool.run("python3", typed + ["age", "-p", "-o", encrypted.path, keys.path])
    try #require(made.status == 0, "\(made.text) \(made.errors)")

    let news = try folder.write(Data(#"{"price":12}"#.utf8), to: "news.json")
    let zip = folder.file("sealed.zip")
    let packed = try await Product.run(["pack", news.path, "--seal-to", recipient, "--output", zip.path])
    try #require(packed.status == 0, "\(packed.errors)")
    for arguments in [
      ["cat", zip.path, "news.json", "--identity", encrypted.path], ["keys", "recipients", encrypted.path],
    ] {
      let outcome = try await Tool.run("python3", typed + [Product.path] + arguments)
      #expect(outcome.status == 0, "\(outcome.text) \(outcome.errors)")
      #expect(outcome.text.contains(arguments[0] == "cat" ? "price" : recipient), "\(outcome.text)")
    }
  }
}
