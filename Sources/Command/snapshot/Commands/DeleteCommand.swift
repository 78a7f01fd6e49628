import ArgumentParser
import Foundation
import SnapshotClient
import SnapshotFormat

struct DeleteCommand: AsyncParsableCommand {
  /// The most snapshots that one command deletes.
  private static let maximum = 100_000

  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Deletes snapshots permanently: those that are named, or those that a search finds.",
    discussion: """
      Deletes bundles and their records. The UUIDs stay reserved and are never used again. Prints the UUIDs of the \
      deleted snapshots. A snapshot that can't be deleted does not prevent the deletion of the others.

      With --report, --text or --before, first shows how many snapshots these find, how large they are, and the newest \
      ten. Deletes these and no others after a confirmation: their number, typed at a terminal, or --yes. Only \
      snapshots that match all of the given options are found.
      """)

  @Argument(
    help: ArgumentHelp("The snapshots: UUIDs or their beginnings, or addresses.", valueName: "snapshot"))
  var names: [String] = []

  @Option(
    help: ArgumentHelp("Delete the snapshots of this bug report.", valueName: "id"),
    transform: ReportID.init(argument:))
  var report: ReportID?

  @Option(
    help: ArgumentHelp(
      "Delete the snapshots with all of these words in identifiers or metadata.", valueName: "words"))
  var text: String?

  @Option(
    help: ArgumentHelp("Delete the snapshots received before this time or day.", valueName: "time"),
    transform: Date.init(argument:))
  var before: Date?

  @Flag(help: "Delete what the search finds without asking.")
  var yes = false

  @Flag(help: "Print one JSON array of UUIDs.")
  var json = false

  @OptionGroup var options: MaintainerOptions

  private var filter: SnapshotFilter {
    var filter = SnapshotFilter(report: report)
    (filter.text, filter.before) = (text, before)
    return filter
  }

  func validate() throws {
    let searches = filter != SnapshotFilter()
    guard searches == names.isEmpty else {
      throw ValidationError("Pass UUIDs, or a search: --report, --text, --before.")
    }
    guard text.map({ !$0.allSatisfy(\.isWhitespace) }) ?? true else {
      throw ValidationError("--text must have a word.")
    }
    guard searches || !yes else {
      throw ValidationError("--yes applies to a search; UUIDs need no confirmation.")
    }
  }

  func run() async throws {
    if names.isEmpty {
      try await options.withMaintainer { maintainer in
        let found = try await search(maintainer)
        if !found.isEmpty { try confirm(found.count) }
        try await delete(found, maintainer)
      }
    } else {
      try await options.withMaintainer(of: names, acceptsReports: false) { maintainer, ids in
        try await delete(ids, maintainer)
      }
    }
  }

  // MARK: - Finding

  /// Returns the snapshots that the search finds, and shows how many these are.
  private func search(_ maintainer: any Maintainer) async throws -> [SnapshotID] {
    var (ids, bytes): ([SnapshotID], Int64) = ([], 0)
    var shown: [SnapshotRecord] = []
    var cursor: String?
    repeat {
      let page = try await maintainer.page(filter, limit: SnapshotName.searchedResults, after: cursor)
      cursor = page.next
      ids += page.records.map(\.id)
      bytes = page.records.reduce(bytes) { $0.addingReportingOverflow($1.size).partialValue }
      shown += page.records.prefix(Self.shownRecords - shown.count)
      guard ids.count <= Self.maximum else {
        throw CommandFailure(
          "The search finds more than \(Self.maximum) snapshots. Delete the oldest first, with --before.",
          status: .refused)
      }
    } while cursor != nil
    guard !ids.isEmpty else {
      Console.message("No snapshot was found.")
      return []
    }
    for line in ListCommand.table(of: shown) { Console.message(line) }
    if ids.count > shown.count { Console.message("… and \(ids.count - shown.count) more") }
    Console.message("Found \(Console.count(ids.count, "snapshot")), \(Console.size(bytes)).")
    return ids
  }

  /// How many of the found snapshots are shown.
  private static let shownRecords = 10

  private func confirm(_ count: Int) throws(CommandFailure) {
    if yes { return }
    guard Console.inputIsTerminal else {
      throw CommandFailure("Nothing was deleted. Pass --yes to delete these snapshots.", status: .refused)
    }
    Console.progress("Type \(count) to delete them permanently: ")
    guard readLine().map({ $0.trimmingCharacters(in: .whitespaces) }) == "\(count)" else {
      throw CommandFailure("Nothing was deleted.", status: .refused)
    }
  }

  // MARK: - Deleting

  /// Deletes the snapshots. Fails at the end if some remain.
  private func delete(_ ids: [SnapshotID], _ maintainer: any Maintainer) async throws {
    var deleted: [SnapshotID] = []
    defer { if json { Console.print(json: deleted) } }
    var failed: [SnapshotID] = []
    for (index, id) in ids.enumerated() {
      do {
        try await maintainer.delete(id)
      } catch {
        // With one snapshot, its error is that of the command.
        guard ids.count > 1 else { throw error }
        guard let failure = Failure(error) else { throw error }
        // What a search found may have been deleted since.
        if failure.isGone, names.isEmpty { continue }
        Console.error("\(id): \(failure.description)")
        failed.append(id)
        if failure.concernsAll {
          failed += ids[(index + 1)...]
          break
        }
        continue
      }
      deleted.append(id)
      if !json { Console.print("\(id)") }
    }
    guard failed.isEmpty else {
      let named = failed.prefix(Self.shownRecords).map(\.description).joined(separator: ", ")
      let rest = failed.count - min(failed.count, Self.shownRecords)
      throw CommandFailure(
        """
        \(failed.count) of \(ids.count) snapshots were not deleted: \(named)\(rest > 0 ? " and \(rest) more" : ""). \
        Run the command again when the cause is removed.
        """)
    }
    if names.isEmpty, !deleted.isEmpty {
      Console.message("Deleted \(Console.count(deleted.count, "snapshot")).")
    }
  }

  /// Why one snapshot was not deleted.
  private struct Failure {
    let description: String
    /// It is deleted already.
    var isGone = false
    /// No other snapshot could be deleted either.
    var concernsAll = false

    /// Returns `nil` for an error that is not one of the store or the server.
    init?(_ error: any Error) {
      switch error {
      case let error as SnapshotClientError:
        description = CommandFailure(error).description
        isGone = error.code == .gone
        concernsAll = [.unauthorized, .connectionFailed, .untrustedServer, .cancelled, .unexpectedAnswer]
          .contains(
            error.code)
      case let failure as CommandFailure: description = failure.description
      default: return nil
      }
    }
  }
}
