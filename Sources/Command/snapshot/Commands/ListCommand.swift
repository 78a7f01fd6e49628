import ArgumentParser
import Foundation
import SnapshotClient
import SnapshotFormat

struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists snapshots, newest first.")

  @Option(
    help: ArgumentHelp("Only snapshots of this bug report.", valueName: "id"),
    transform: ReportID.init(argument:)
  )
  var report: ReportID?

  @Option(help: ArgumentHelp("Only snapshots of this application.", valueName: "identifier"))
  var application: String?

  @Option(
    help: ArgumentHelp(
      "Only snapshots of this version and its subversions: 3.1 also finds 3.1.4.", valueName: "version"))
  var version: String?

  @Option(help: ArgumentHelp("Only snapshots of this version or later.", valueName: "version"))
  var minVersion: String?

  @Option(
    help: ArgumentHelp(
      "Only snapshots of this version, its subversions, or earlier.", valueName: "version"))
  var maxVersion: String?

  @Option(help: ArgumentHelp("Only snapshots whose application has this module.", valueName: "name"))
  var module: String?

  @Option(help: ArgumentHelp("Only snapshots with a recording of this identifier.", valueName: "identifier"))
  var identifier: String?

  @Option(
    help: ArgumentHelp(
      "Only snapshots of this device: a model, a system, or a system and its version.", valueName: "device"))
  var device: String?

  @Option(
    help: ArgumentHelp(
      "Only snapshots received at this time or later: 2026-11-21, 2026-11-21T15:04:05Z.", valueName: "time"),
    transform: Date.init(argument:))
  var after: Date?

  @Option(
    help: ArgumentHelp("Only snapshots received before this time.", valueName: "time"),
    transform: Date.init(argument:)
  )
  var before: Date?

  @Option(
    help: ArgumentHelp(
      "Only snapshots with all of these words in identifiers or metadata.", valueName: "words"))
  var text: String?

  @Option(help: ArgumentHelp("The maximum number of snapshots.", valueName: "number"))
  var limit: Int?

  @Flag(help: "Print one JSON array of records.")
  var json = false

  @OptionGroup var options: ServerOptions

  func validate() throws {
    guard limit.map({ $0 >= 1 }) ?? true else { throw ValidationError("--limit must be at least 1.") }
    guard version == nil || minVersion == nil && maxVersion == nil else {
      throw ValidationError("Pass --version, or --min-version and --max-version, not both.")
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
      Console.message(
        filter == SnapshotFilter()
          ? "There are no snapshots."
          : filter == SnapshotFilter(report: report)
            ? "No snapshot is attached to \(report.map { "\($0)" } ?? "it")."
            : "No snapshot was found.")
    }
    for line in Self.table(of: records) { Console.print(line) }
  }

  /// A header and one line for each record, in columns; empty if there is no record.
  static func table(of records: [SnapshotRecord]) -> [String] {
    guard !records.isEmpty else { return [] }
    let rows =
      [["UUID", "RECEIVED", "REPORT", "SIZE", "APPLICATION"]]
      + records.map { record in
        [
          record.id.description, record.receivedAt.formatted(.iso8601), record.report.description,
          Console.size(record.size),
          Console.escaped("\(record.application.identifier) \(record.application.version)"),
        ]
      }
    let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      zip(row, widths).map { Columns.padded($0, to: $1) }.joined(separator: "  ") + "  " + row[4]
    }
  }
}

extension Date {
  /// Parses a time in RFC 3339, or a day, which stands for its midnight in UTC.
  init(argument: String) throws {
    let text = argument.utf8.count == 10 ? argument + "T00:00:00Z" : argument
    let json = try SnapshotJSON.encode(text)
    do {
      self = try SnapshotJSON.decode(Date.self, from: json)
    } catch {
      throw ValidationError(
        "‘\(argument)’ is not a time such as 2026-11-21T15:04:05Z or a day such as 2026-11-21.")
    }
  }
}
