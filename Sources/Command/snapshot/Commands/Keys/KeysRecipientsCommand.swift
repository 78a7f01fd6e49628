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

  @Flag(help: "Print the recipients as JSON.")
  var json = false

  func run() throws {
    let recipients = try NamedIdentities.read(file).map(\.recipient.description)
    if json { return Console.print(json: recipients) }
    for recipient in recipients { Console.print(recipient) }
  }
}
