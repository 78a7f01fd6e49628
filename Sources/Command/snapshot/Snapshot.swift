import ArgumentParser
import Foundation
import SnapshotClient
import Synchronization
import SystemIO

/// The command: where the parts of the product are put together.
@main
struct Snapshot: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot",
    abstract: "Keeps what users saw: records an app's data, attaches it to bug reports, replays it.",
    discussion: """
      Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 failed, 2 refused input or \
      verification failed, 64 wrong usage.
      """,
    version: version,
    subcommands: [
      ServeCommand.self, DemoCommand.self, UploadCommand.self, FetchCommand.self, ListCommand.self,
      InspectCommand.self, DiffCommand.self, VerifyCommand.self, TokenCommand.self, LinkCommand.self,
      PackCommand.self, PreloadCommand.self, EmbedCommand.self, DeleteCommand.self, PinCommand.self,
      ExpireCommand.self,
      ScrubCommand.self, ReindexCommand.self,
    ])

  /// What `--version` prints where no command is named: `list` has a `--version` of its own, which would be taken for
  /// this one wherever another of its arguments is wrong.
  private static var version: String {
    let namesCommand = CommandLine.arguments.dropFirst().first.map { !$0.hasPrefix("-") } ?? false
    return namesCommand ? "" : ProductVersion.current
  }

  static func main() async {
    StandardStreams.occupyClosed()
    do {
      var command = try parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
      if Console.lostOutput.load(ordering: .relaxed) {
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
