import ArgumentParser
import Foundation
import SnapshotFormat
import SystemIO

struct ProblemsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "problems",
    abstract: "Lists what is wrong with the recordings of a snapshot.",
    discussion: """
      Names recordings that are empty, cut off, invalid JSON or an error page, exchanges that failed, and what was not \
      recorded. Exit codes: 0 nothing was found, 1 something was found, 2 the snapshot can't be read.
      """)

  @Argument(help: "A UUID on the server, the address of a bundle, a bundle, or a snapshot's folder.")
  var snapshot: String

  @Flag(help: "Print one JSON array with the problems.")
  var json = false

  @OptionGroup var options: ReadingOptions

  func run() async throws {
    try await SearchStatus.exit {
      let rows = try ProblemRow.rows(of: try await options.open(snapshot))
      if json { Console.print(json: rows) } else { rows.map(\.line).forEach(Console.print) }
      return !rows.isEmpty
    }
  }
}

/// Something that is wrong with the recordings of a snapshot.
struct ProblemRow: Encodable {
  /// The identifier of the recording; `nil` for calls that are not listed.
  var identifier: String?
  /// The number of the call, if a history is kept.
  var call: Int?
  /// The problem in a few words.
  var problem: String

  /// The identifier, and the problem. Texts of the snapshot are escaped.
  var line: String {
    Console.escaped((identifier ?? "others") + (call.map { ", call \($0)" } ?? "")) + ": "
      + Console.escaped(problem)
  }

  /// Reads all recordings of a snapshot, and returns their problems in the order of the manifest, and then what was not
  /// recorded.
  static func rows(of snapshot: OpenSnapshot) throws(BundleError) -> [ProblemRow] {
    var rows: [ProblemRow] = []
    for recording in snapshot.manifest.recordings {
      guard let problem = recording.problem(with: try snapshot.state(of: recording)) else { continue }
      rows.append(ProblemRow(identifier: recording.identifier, call: recording.call, problem: "\(problem)"))
    }
    return rows + snapshot.manifest.dropped.map { ProblemRow(identifier: $0.identifier, problem: $0.summary) }
  }
}
