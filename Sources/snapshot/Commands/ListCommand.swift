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

  @Flag(help: "Print one JSON array of records.")
  var json = false

  @OptionGroup var options: ServerOptions

  func run() async throws {
    var records: [SnapshotRecord] = []
    for try await record in try options.client().list(report: report) { records.append(record) }
    if json {
      Console.print(String(decoding: try SnapshotJSON.encode(records, pretty: true), as: UTF8.self))
      return
    }
    if records.isEmpty {
      Console.note(report.map { "Nothing is attached to \($0)." } ?? "There are no snapshots.")
    }
    for record in records {
      let app = "\(record.application.identifier) \(record.application.version)"
      let time = record.receivedAt.formatted(.iso8601)
      let line = "\(record.id)  \(time)  \(record.report)  \(Console.size(record.size))  \(app)"
      Console.print(Console.escaped(line))
    }
  }
}
