import ArgumentParser
import SnapshotFormat

struct ScrubCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scrub",
    abstract: "Reads every bundle and compares it with its digest; sets aside what is damaged.",
    discussion: """
      At most so many bytes a second are read as the settings say (server.retention.scrubBytesPerSecond). What is \
      damaged is no longer given out; its record can still be read, and the same bundle attached again puts it right. \
      Prints the UUIDs of what is damaged. Exit code 2 where anything is.
      """)

  @Flag(help: "Print the report as JSON.")
  var json = false

  @OptionGroup var options: KeeperOptions

  func run() async throws {
    try await options.withKeeper { keeper in
      let report = try await keeper.scrub()
      if json {
        Console.print(json: report)
      } else {
        report.damagedSnapshots.forEach { Console.print("\($0)") }
      }
      Console.note("Bundles looked at: \(report.bundles), \(Console.size(report.bytes)).")
      guard report.damaged == 0 else {
        throw CommandFailure("\(report.damaged) of \(report.bundles) are damaged.", status: .refused)
      }
      guard report.unreadable == 0 else {
        throw CommandFailure("\(report.unreadable) of \(report.bundles) could not be read.")
      }
    }
  }
}
