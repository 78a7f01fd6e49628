import ArgumentParser
import DataSnapshots

/// Detects an unknown subcommand before the arguments are parsed, since ArgumentParser only reports an unexpected
/// argument.
enum UnknownCommand {
  /// Throws if `arguments` name an unknown subcommand. The error suggests the most similar one.
  static func check(_ arguments: ArraySlice<String>) throws(CommandFailure) {
    var command: any ParsableCommand.Type = Snapshot.self
    var path = "snapshot"
    for argument in arguments {
      let subcommands = command.configuration.subcommands
      if argument.hasPrefix("-") || subcommands.isEmpty { return }
      if argument == "help", path == "snapshot" { continue }
      guard let next = subcommands.first(where: { $0.configuration.commandName == argument }) else {
        throw failure(argument, path, subcommands.compactMap { $0.configuration.commandName })
      }
      command = next
      path += " " + argument
    }
  }

  private static func failure(_ name: String, _ path: String, _ names: [String]) -> CommandFailure {
    let nearest = NearestIdentifiers.find(name, among: names).first
    let mend = nearest.map { "did you mean `\(path) \($0)`?" } ?? "`\(path) --help` lists the commands."
    return CommandFailure("There is no command `\(path) \(name)`; \(mend)", status: .usage)
  }
}
