import ArgumentParser

@main
struct Snapshot: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "snapshot")
}
