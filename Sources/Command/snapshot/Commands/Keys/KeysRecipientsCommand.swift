import ArgumentParser
import SnapshotSealing

struct KeysRecipientsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recipients",
    abstract: "Prints the recipients of the identities in a file.",
    discussion:
      "One line for each identity, in the order of the file. Asks for the passphrase of an encrypted file.")

  @Argument(
    help: ArgumentHelp("A file with identities, as `snapshot keys create` writes it.", valueName: "file"))
  var file: String

  func run() throws {
    for identity in try NamedIdentities.read(file) { Console.print(identity.recipient.description) }
  }
}
