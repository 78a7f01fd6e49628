import ArgumentParser

struct KeysCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys",
    abstract: "Manages the keys of sealed snapshots.",
    subcommands: [KeysCreateCommand.self, KeysRecipientsCommand.self, KeysRewrapCommand.self])
}
