import ArgumentParser
import Foundation
import SnapshotFormat
import SnapshotSealing
import SystemIO

struct KeysCreateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Makes a key for sealed snapshots, and prints the recipient.",
    discussion: """
      The file has the secret identity, as age-keygen writes it, and only you can read it. The recipient, age1…, is \
      public: name it in the app, or with --seal-to. Keep a copy of the file in a safe place: without an identity, \
      nobody can open what was sealed for it.
      """)

  @Option(help: ArgumentHelp("Write the identity to this new file.", valueName: "file"))
  var output: String

  @Flag(help: "Make a key that resists quantum computers. `age` reads it from version 1.3 on.")
  var postQuantum = false

  @Flag(help: "Print the path and the recipient as JSON.")
  var json = false

  private struct Result: Encodable {
    let path: String
    let recipient: String
  }

  func run() throws {
    try NewPath.check(output, kind: "file", mend: "name another file; an identity is never overwritten.")
    let identity = try makeIdentity()
    let text = IdentityFile.contents(
      of: identity, createdAt: SnapshotJSON.text(of: Date()))
    do {
      let file = try File(output, .create(mode: 0o600))
      try file.write(Array(text.utf8), at: 0)
      try file.synchronize()
    } catch {
      throw CommandFailure("Cannot write the identity to \(output): \(error)")
    }
    Console.message("Wrote the secret identity to \(output). Keep a copy in a safe place.")
    let result = Result(path: output, recipient: identity.recipient.description)
    if json { Console.print(json: result) } else { Console.print(result.recipient) }
  }

  private func makeIdentity() throws(CommandFailure) -> SealingIdentity {
    do { return try postQuantum ? .generateHybrid() : .generate() } catch {
      throw CommandFailure(error.description)
    }
  }
}
