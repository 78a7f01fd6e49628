import ArgumentParser
import Foundation
import SnapshotFormat

struct ExpireCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "expire",
    abstract: "Deletes expired snapshots, or sets when given snapshots expire.",
    discussion: """
      Without UUIDs, deletes the snapshots that the retention rules (server.retention in the settings) no longer keep. \
      The server also does this at regular intervals. With --dry-run nothing is deleted. Prints the deleted snapshots \
      and the reasons, oldest first. Deleting more than a fifth of all snapshots, if these are at least 100, requires \
      --confirm. So does any deletion while the clock of the server may be wrong: --confirm says that it is right.

      With UUIDs, --at sets when these snapshots expire: a time such as 2027-03-01T00:00:00Z, a duration such as 30d, \
      or never for no expiration date of their own.
      """)

  @Argument(help: ArgumentHelp("The snapshots whose expiration to set.", valueName: "uuid"))
  var ids: [SnapshotID] = []

  @Option(help: ArgumentHelp("When these snapshots expire.", valueName: "time"))
  var at: SnapshotEnd?

  @Flag(help: "Print the expired snapshots and the reasons, but delete nothing.")
  var dryRun = false

  @Flag(help: "Delete even more than a fifth of all snapshots, and believe the clock.")
  var confirm = false

  @Flag(help: "Print one JSON array.")
  var json = false

  @OptionGroup var options: MaintainerOptions

  func validate() throws {
    guard ids.isEmpty == (at == nil) else {
      throw ValidationError("Pass UUIDs and --at together, or neither to apply the retention rules.")
    }
    guard !dryRun || ids.isEmpty else {
      throw ValidationError("--dry-run applies to the retention rules; it cannot be used with UUIDs.")
    }
    guard !confirm || (ids.isEmpty && !dryRun) else {
      throw ValidationError(
        "--confirm applies to the retention rules; it cannot be used with UUIDs or --dry-run.")
    }
  }

  func run() async throws {
    try await options.withMaintainer { maintainer in
      if let at { try await setEnd(at, maintainer) } else { try await applyRules(maintainer) }
    }
  }

  private func setEnd(_ end: SnapshotEnd, _ maintainer: any Maintainer) async throws {
    var records: [SnapshotRecord] = []
    defer { if json { Console.print(json: records) } }
    for id in ids {
      let record = try await maintainer.change(id, isPinned: nil, isGood: nil, end: end)
      records.append(record)
      if !json { Console.print("\(id)  \(record.expiresAt.map(SnapshotJSON.text) ?? "never")") }
    }
  }

  private func applyRules(_ maintainer: any Maintainer) async throws {
    var expirations: [Expiration] = []
    var (count, bytes, remaining) = (0, Int64(0), 0)
    var needsConfirmation = false
    do {
      defer { if json { Console.print(json: expirations) } }
      let tell: (Expiration) -> Void = { expiration in
        count += 1
        // A server of another kind can send any number.
        bytes = bytes.addingReportingOverflow(expiration.size).partialValue
        if json { expirations.append(expiration) } else { Self.print(expiration) }
      }
      if dryRun {
        needsConfirmation = try await maintainer.plan(tell)
      } else {
        remaining = try await maintainer.expire(isConfirmed: confirm, tell)
      }
    }
    let verb = dryRun ? "would be deleted" : "deleted"
    Console.message(count == 0 ? "Nothing \(verb)." : "\(count) \(verb), \(Console.size(bytes)).")
    if needsConfirmation {
      Console.message(
        """
        These are more than a fifth of all snapshots, or the clock may be wrong (see `snapshot doctor`). \
        `snapshot expire --confirm` deletes them.
        """)
    }
    guard remaining == 0 else {
      throw CommandFailure(
        "\(remaining) more snapshots are expired, but could not be deleted. The server's log has the reasons."
      )
    }
  }

  private static func print(_ expiration: Expiration) {
    let time = SnapshotJSON.text(of: expiration.receivedAt)
    Console.print(
      Console.escaped("\(expiration.id)  \(time)  \(Console.size(expiration.size))  \(expiration.reason)"))
  }
}
