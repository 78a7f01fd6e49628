import ArgumentParser
import Foundation
import SnapshotFormat

struct ExpireCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "expire",
    abstract: "Lets go what the rules no longer keep, or says when single snapshots go.",
    discussion: """
      Without UUIDs, the rules in the settings (server.retention) are applied at once, as the server does by itself \
      every now and then; with --dry-run nothing goes. Prints what went, or would go, the oldest first, and why. \
      More than a fifth of all snapshots, if these are at least 100, go only with --confirm: a clock may have jumped.

      With UUIDs, --at says when these go: a time such as 2027-03-01T00:00:00Z, a while from now such as 30d, or never, \
      for no end of their own.
      """)

  @Argument(help: ArgumentHelp("Snapshots to set an end for.", valueName: "uuid"))
  var ids: [SnapshotID] = []

  @Option(help: ArgumentHelp("When these snapshots go.", valueName: "time"))
  var at: SnapshotEnd?

  @Flag(help: "Only print what would go, and why.")
  var dryRun = false

  @Flag(help: "Let them go even where these are more than a fifth of all snapshots.")
  var confirm = false

  @Flag(help: "Print one JSON array.")
  var json = false

  @OptionGroup var options: KeeperOptions

  func validate() throws {
    guard ids.isEmpty == (at == nil) else {
      throw ValidationError("UUIDs and --at go together; without both, the rules are applied.")
    }
    guard !dryRun || ids.isEmpty else { throw ValidationError("--dry-run is for the rules, not for UUIDs.") }
    guard !confirm || (ids.isEmpty && !dryRun) else {
      throw ValidationError("--confirm is for the rules, without --dry-run.")
    }
  }

  func run() async throws {
    try await options.withKeeper { keeper in
      if let at { try await setEnd(at, keeper) } else { try await applyRules(keeper) }
    }
  }

  private func setEnd(_ end: SnapshotEnd, _ keeper: any Keeper) async throws {
    var records: [SnapshotRecord] = []
    defer { if json { Console.print(json: records) } }
    for id in ids {
      let record = try await keeper.change(id, isPinned: nil, end: end)
      records.append(record)
      if !json { Console.print("\(id)  \(record.expiresAt.map(SnapshotJSON.text) ?? "never")") }
    }
  }

  private func applyRules(_ keeper: any Keeper) async throws {
    var expirations: [Expiration] = []
    var (count, bytes, remaining) = (0, Int64(0), 0)
    var needsConfirmation = false
    do {
      defer { if json { Console.print(json: expirations) } }
      let tell: (Expiration) -> Void = { expiration in
        count += 1
        // Another server than ours may tell any number.
        bytes = bytes.addingReportingOverflow(expiration.size).partialValue
        if json { expirations.append(expiration) } else { Self.print(expiration) }
      }
      if dryRun {
        needsConfirmation = try await keeper.plan(tell)
      } else {
        remaining = try await keeper.expire(isConfirmed: confirm, tell)
      }
    }
    let verb = dryRun ? "would go" : "went"
    Console.note(count == 0 ? "Nothing \(verb)." : "\(count) \(verb), \(Console.size(bytes)).")
    if needsConfirmation {
      Console.note("That is more than a fifth of all snapshots: they go only by `snapshot expire --confirm`.")
    }
    guard remaining == 0 else {
      throw CommandFailure("\(remaining) more are to go, and could not; the server's log says why.")
    }
  }

  private static func print(_ expiration: Expiration) {
    let time = SnapshotJSON.text(of: expiration.receivedAt)
    Console.print(
      Console.escaped("\(expiration.id)  \(time)  \(Console.size(expiration.size))  \(expiration.reason)"))
  }
}
