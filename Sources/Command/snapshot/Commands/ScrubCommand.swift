import ArgumentParser
import SnapshotFormat

struct ScrubCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scrub",
    abstract: "Checks the digest of every bundle, and sets damaged bundles aside.",
    discussion: """
      The setting server.retention.scrubBytesPerSecond limits the rate of reading. A damaged bundle is no longer \
      served; its record can still be read, and attaching the same bundle again repairs it. Prints the UUIDs of the \
      damaged snapshots. The exit code is 2 if there are any.
      """)

  @Flag(help: "Print the report as JSON.")
  var json = false

  @OptionGroup var options: MaintainerOptions

  func run() async throws {
    try await options.withMaintainer { maintainer in
      let report = try await maintainer.scrub()
      if json {
        Console.print(json: report)
      } else {
        report.damagedSnapshots.forEach { Console.print("\($0)") }
      }
      Console.message("Bundles checked: \(report.bundles), \(Console.size(report.bytes)).")
      guard report.damaged == 0 else {
        throw CommandFailure("\(report.damaged) of \(report.bundles) are damaged.", status: .refused)
      }
      guard report.unreadable == 0 else {
        throw CommandFailure("\(report.unreadable) of \(report.bundles) could not be read.")
      }
    }
  }
}
