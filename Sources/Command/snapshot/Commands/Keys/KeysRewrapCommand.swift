import ArgumentParser
import Foundation
import SnapshotFormat
import SnapshotSealing

struct KeysRewrapCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rewrap",
    abstract: "Makes a sealed snapshot readable for further keys, and prints the UUID of the result.",
    discussion: """
      For a new member of the team, or after a key was lost. The result is a new bundle with a UUID of its own that names \
      the old one. The encrypted contents are the same bytes, and are verified on the way. Recipients that the bundle has \
      remain, unless --only removes them; recipients of types that this version does not know always remain.

      This takes nothing from anybody: whoever has the old bundle and an old key can still read it. After a key was stolen, \
      delete the old bundle too. See the article “Sealed snapshots”; a server shows it at /docs/sealedsnapshots.
      """)

  @Argument(
    help:
      "A sealed snapshot: a bundle, or the name of one on a server (UUID or its beginning, report, address).")
  var snapshot: String

  @Option(
    name: .customLong("to"),
    help: ArgumentHelp("Seal it for this public key. Can be repeated.", valueName: "age1…"))
  var recipients: [String] = []

  @Flag(help: "Remove the recipients that the bundle has.")
  var only = false

  @Option(help: ArgumentHelp("Write the result to this new file.", valueName: "file"))
  var output: String

  @Flag(help: "Print the clear head of the result as JSON.")
  var json = false

  @OptionGroup var options: ReadingOptions

  func validate() throws {
    guard !recipients.isEmpty else { throw ValidationError("Name the new recipient: --to age1….") }
  }

  func run() async throws {
    try NewPath.check(output, kind: "file")
    let new = try SealOptions.recipients(recipients)
    let head = try await options.withSource(snapshot, opensSealed: false) { source throws(CommandFailure) in
      try rewrap(source, to: new)
    }
    let count = head.sealed?.recipients.count ?? 0
    Console.message("Sealed to \(Console.count(count, "recipient")) into \(output).")
    if json { Console.print(json: head) } else { Console.print(head.id.description) }
  }

  private func rewrap(
    _ source: SnapshotSource, to recipients: [SealingRecipient]
  ) throws(CommandFailure) -> Manifest {
    guard case .bundle(let zip) = source else {
      throw CommandFailure(
        "\(snapshot) is not a sealed bundle; `snapshot pack --seal-to` makes one.", status: .refused)
    }
    let identities = try options.identities()
    do {
      return try SnapshotBundle.rewrap(
        zip: zip, with: identities, to: recipients, removingOthers: only, to: URL(filePath: output)
      ).manifest
    } catch .notSealed {
      throw CommandFailure(
        "\(snapshot) is not a sealed bundle; `snapshot pack --seal-to` makes one.", status: .refused)
    } catch {
      throw CommandFailure(error.description, status: .refused)
    }
  }
}
