import ArgumentParser

struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Works with the settings of the server.",
    subcommands: [ConfigCheckCommand.self])
}
