import ArgumentParser
import Foundation
import SnapshotClient
import SnapshotFormat

struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists snapshots, newest first.")

  @Option(
    help: ArgumentHelp("Only those of this bug report.", valueName: "id"), transform: ReportID.init(argument:)
  )
  var report: ReportID?

  @Option(help: ArgumentHelp("Only those of this application.", valueName: "identifier"))
  var application: String?

  @Option(
    help: ArgumentHelp(
      "Only those of this version and all that begin with it: 3.1 finds 3.1.4 too.", valueName: "version"))
  var version: String?

  @Option(help: ArgumentHelp("Only those of this version or later.", valueName: "version"))
  var minVersion: String?

  @Option(
    help: ArgumentHelp(
      "Only those of this version, all that begin with it, or earlier.", valueName: "version"))
  var maxVersion: String?

  @Option(help: ArgumentHelp("Only those whose application has this module.", valueName: "name"))
  var module: String?

  @Option(help: ArgumentHelp("Only those that hold a recording of this identifier.", valueName: "identifier"))
  var identifier: String?

  @Option(
    help: ArgumentHelp(
      "Only those of this device: a model, a system, or a system and its version.", valueName: "device"))
  var device: String?

  @Option(
    help: ArgumentHelp(
      "Only those received then or later: 2026-11-21, 2026-11-21T15:04:05Z.", valueName: "time"),
    transform: Date.init(argument:))
  var after: Date?

  @Option(
    help: ArgumentHelp("Only those received before then.", valueName: "time"), transform: Date.init(argument:)
  )
  var before: Date?

  @Option(
    help: ArgumentHelp("Only those with all of these words in identifiers or metadata.", valueName: "words"))
  var text: String?

  @Option(help: ArgumentHelp("No more than so many.", valueName: "number"))
  var limit: Int?

  @Flag(help: "Print one JSON array of records.")
  var json = false

  @OptionGroup var options: ServerOptions

  func validate() throws {
    guard limit.map({ $0 >= 1 }) ?? true else { throw ValidationError("--limit is a number from 1.") }
    guard version == nil || minVersion == nil && maxVersion == nil else {
      throw ValidationError("Give --version, or --min-version and --max-version, not both.")
    }
  }

  private var filter: SnapshotFilter {
    var filter = SnapshotFilter(report: report)
    filter.application = application
    filter.minimumVersion = version ?? minVersion
    filter.maximumVersion = version ?? maxVersion
    filter.module = module
    filter.identifier = identifier
    filter.device = device
    filter.after = after
    filter.before = before
    filter.text = text
    return filter
  }

  func run() async throws {
    var records: [SnapshotRecord] = []
    let filter = filter
    for try await record in try options.client().list(filter) {
      records.append(record)
      if records.count == limit { break }
    }
    if json {
      Console.print(json: records)
      return
    }
    if records.isEmpty {
      Console.note(
        filter == SnapshotFilter()
          ? "There are no snapshots."
          : filter == SnapshotFilter(report: report)
            ? "Nothing is attached to \(report.map { "\($0)" } ?? "it")."
            : "Nothing was found.")
    }
    for record in records {
      let app = "\(record.application.identifier) \(record.application.version)"
      let time = record.receivedAt.formatted(.iso8601)
      let line = "\(record.id)  \(time)  \(record.report)  \(Console.size(record.size))  \(app)"
      Console.print(Console.escaped(line))
    }
  }
}

extension Date {
  /// Reads a time as in RFC 3339, or a day, which begins at midnight UTC.
  fileprivate init(argument: String) throws {
    let text = argument.utf8.count == 10 ? argument + "T00:00:00Z" : argument
    let json = try SnapshotJSON.encode(text)
    do {
      self = try SnapshotJSON.decode(Date.self, from: json)
    } catch {
      throw ValidationError("‘\(argument)’ is no time such as 2026-11-21T15:04:05Z, and no day.")
    }
  }
}
