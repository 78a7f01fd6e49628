import ArgumentParser
import DataSnapshots
import Foundation
import SnapshotClient
import SystemIO

/// The command-line tool. It connects the parts of the product.
@main
struct Snapshot: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot",
    abstract: "Records an app's data, attaches it to bug reports, and replays it.",
    discussion: """
      Results are written to stdout, everything else to stderr. Exit codes: 0 success, 1 failure, 2 the input was \
      refused or did not verify, 64 wrong usage.
      """,
    version: version,
    subcommands: [
      ServeCommand.self, DemoCommand.self, UploadCommand.self, FetchCommand.self, ListCommand.self,
      OpenCommand.self, ViewCommand.self,
      InspectCommand.self, ProblemsCommand.self, GrepCommand.self, CatCommand.self, DiffCommand.self,
      VerifyCommand.self, TokenCommand.self, LinkCommand.self, PackCommand.self, ImportCommand.self,
      ExportCommand.self, RedactCommand.self, SecretsCommand.self, TestCommand.self, RunCommand.self,
      ReplayCommand.self, PreloadCommand.self, EmbedCommand.self,
      DeleteCommand.self, PinCommand.self, MarkGoodCommand.self, ExpireCommand.self,
      ScrubCommand.self, ReindexCommand.self, BackupCommand.self, RestoreCommand.self,
      MigrateCommand.self, ConfigCommand.self, DoctorCommand.self, WebhooksCommand.self,
      KeysCommand.self, MCPCommand.self, SkillCommand.self,
    ])

  /// The text of `--version`, only if no subcommand is named. `list` has its own `--version` option, which
  /// ArgumentParser would otherwise confuse with this flag if another argument is invalid.
  private static var version: String {
    let namesCommand = CommandLine.arguments.dropFirst().first.map { !$0.hasPrefix("-") } ?? false
    return namesCommand ? "" : ProductVersion.current
  }

  static func main() async {
    StandardStreams.occupyClosed()
    do {
      try UnknownCommand.check(CommandLine.arguments.dropFirst())
      var command = try parseAsRoot()
      if !(command is ServeCommand) { Interruption.handle() }
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
      if Console.lostOutput.value {
        throw CommandFailure("The result could not be written to stdout.")
      }
    } catch let failure as CommandFailure {
      end(with: failure)
    } catch let error as SnapshotClientError {
      end(with: CommandFailure(error))
    } catch {
      exit(withError: error)
    }
  }

  private static func end(with failure: CommandFailure) -> Never {
    Console.error(failure.description)
    Foundation.exit(failure.status.rawValue)
  }
}

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
