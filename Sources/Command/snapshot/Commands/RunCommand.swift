import ArgumentParser
import DataSnapshots
import Dispatch
import Foundation
import SnapshotFormat
import SystemIO

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Runs an app that replays a snapshot.",
    discussion: """
      Verifies the snapshot, and unpacks it into a temporary folder that is removed afterwards. The app finds it by the \
      environment variable \(SnapshotMode.Launch.replayVariable); its own recordings and state are not used and not \
      changed. The exit status, or the signal that ended the app, becomes that of this command. SIGHUP, SIGINT and SIGTERM \
      are passed on.

        snapshot run BUG-123 -- .build/debug/news --list
      """)

  @Argument(
    help: "A UUID on the server, a report, the address of a bundle, a bundle, or a snapshot's folder.")
  var snapshot: String

  @Argument(parsing: .postTerminator, help: "The app and its arguments, after --.")
  var command: [String] = []

  @OptionGroup var options: ReadingOptions

  func validate() throws {
    guard !command.isEmpty else {
      throw ValidationError("Name the app to run after --, as in `snapshot run UUID -- ./app`.")
    }
  }

  func run() async throws {
    switch try await replay() {
    case .exited(0): return
    case .exited(let status): throw ExitCode(status)
    case .signaled(let number): ProcessSignals.end(by: number)
    }
  }

  /// Runs the app, and returns how it ended. The temporary folder is removed.
  private func replay() async throws -> ChildProgram.End {
    let scratch = try ScratchFolder()
    let folder = scratch.file("snapshot")
    try await options.withSource(snapshot) { source in
      let zip = try source.snapshot(packedTo: scratch.file("original.zip"))
      do throws(BundleError) { _ = try SnapshotBundle.unpack(zip: zip, into: folder) } catch {
        throw CommandFailure(error.description, status: .refused)
      }
    }
    var environment = ProcessInfo.processInfo.environment
    environment[SnapshotMode.Launch.replayVariable] = folder.path
    let program: ChildProgram
    do {
      program = try Interruption.start { () throws(SystemError) in
        try ChildProgram(command[0], Array(command.dropFirst()), environment: environment)
      }
    } catch {
      throw CommandFailure(
        error.isNotFound
          ? "There is no program ‘\(command[0])’; name its path, or one in PATH."
          : "‘\(command[0])’ can't be run: \(error)", status: .refused)
    }
    let end = await DispatchQueue(label: "run").perform { program.waitForEnd() }
    Interruption.finish()
    return withExtendedLifetime(scratch) { end }
  }
}

extension SnapshotSource {
  /// Returns the bundle of a snapshot: an existing one, or that of a folder, packed to `zip`. Refuses other data.
  func snapshot(packedTo zip: URL) throws(CommandFailure) -> URL {
    switch self {
    case .bundle, .snapshotFolder: try packed(to: zip).url
    case .appData(let url), .plainFolder(let url), .plainFile(let url): throw Self.notASnapshot(url)
    }
  }
}
