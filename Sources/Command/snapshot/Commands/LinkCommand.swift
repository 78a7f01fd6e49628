import ArgumentParser
import Foundation
import SnapshotClient
import SnapshotFormat

struct LinkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link",
    abstract: "Creates a link to download a bundle, or to attach snapshots, without a token.",
    discussion: """
      With a snapshot, prints a link, for example for a bug tracker. Everyone who has the link can download this bundle, \
      and nothing else, until the link expires. To revoke such a link early, delete the snapshot.

      With --attach, prints a link to a page on which people without a token can attach snapshots to this report. They \
      see nothing else. The server counts snapshots and bytes. The token needs the scopes read and attach.

        snapshot link --attach BUG-123 --expires 7d --count 5 --bytes 500MB
        snapshot link --attach BUG-123 --list
        snapshot link --attach BUG-123 --revoke 1f0c3a5b7d9e
      """)

  @Argument(help: "A UUID or its beginning, a report, whose newest snapshot is meant, or an address.")
  var snapshot: String?

  @Option(
    help: ArgumentHelp("Create a link to attach to this report.", valueName: "report"),
    transform: ReportID.init(argument:))
  var attach: ReportID?

  @Option(
    help: ArgumentHelp(
      "How long the link is valid: 90s, 15m, 1h, 30d (default with --attach: 7d).", valueName: "time"))
  var expires: TimeSpan?

  @Option(help: ArgumentHelp("How many snapshots can be attached (default: 5).", valueName: "number"))
  var count: Int?

  @Option(
    help: ArgumentHelp(
      "How many bytes these can have together, such as 500MB (default: 500MB).", valueName: "size"))
  var bytes: ByteSize?

  @Flag(help: "List the links to attach to the report, newest first.")
  var list = false

  @Option(help: ArgumentHelp("Revoke the link to attach with this id.", valueName: "id"))
  var revoke: String?

  @Flag(help: "Print the link and its properties as JSON.")
  var json = false

  @OptionGroup var options: ServerOptions

  func validate() throws {
    guard (snapshot == nil) != (attach == nil) else {
      throw ValidationError("Pass a snapshot, or --attach with a report.")
    }
    if snapshot != nil {
      guard expires != nil else { throw ValidationError("A link to a snapshot needs --expires.") }
      guard count == nil, bytes == nil, !list, revoke == nil else {
        throw ValidationError("--count, --bytes, --list and --revoke belong to --attach.")
      }
    }
    let makes = expires != nil || count != nil || bytes != nil
    guard [makes, list, revoke != nil].filter({ $0 }).count <= 1 else {
      throw ValidationError("--list and --revoke can't be combined with other options of a link.")
    }
  }

  func run() async throws {
    if let attach {
      try await runAttach(attach)
    } else if let snapshot, let expires {
      try await printLink(to: snapshot, expires)
    }
  }

  private func printLink(to snapshot: String, _ expires: TimeSpan) async throws {
    let (reference, client) = try await options.resolve(snapshot)
    let link = try await client.link(to: reference.id, seconds: Int(expires.seconds))
    if json {
      Console.print(json: link)
    } else {
      Console.message("The link is valid until \(link.expiresAt.formatted(.iso8601)).")
      Console.print(link.url.absoluteString)
    }
  }

  private func runAttach(_ report: ReportID) async throws {
    let client = try options.client()
    if let revoke {
      try await client.revokeAttachLink(revoke, to: report)
      Console.message("The link \(revoke) is revoked.")
    } else if list {
      let links = try await client.attachLinks(to: report)
      if json {
        Console.print(json: links)
      } else {
        if links.isEmpty { Console.message("There are no links to attach to \(report).") }
        for link in links { Console.print(Console.escaped(Self.line(link))) }
      }
    } else {
      let link = try await client.makeAttachLink(
        to: report, seconds: expires.map { Int($0.seconds) }, count: count, bytes: bytes?.bytes)
      if json {
        Console.print(json: link)
      } else {
        Console.message("The link \(link.link.id) allows \(Self.allowance(link.link)).")
        Console.print(link.url.absoluteString)
      }
    }
  }

  private static func allowance(_ link: SnapshotAPIClient.AttachLink) -> String {
    var text =
      "\(link.count) \(link.count == 1 ? "snapshot" : "snapshots") of \(ByteSize(bytes: link.bytes)) in all"
    if let end = link.expiresAt { text += " until \(end.formatted(.iso8601))" }
    return text
  }

  private static func line(_ link: SnapshotAPIClient.AttachLink) -> String {
    var parts = [link.id, link.state, "\(link.usedCount)/\(link.count) snapshots"]
    parts.append("\(ByteSize(bytes: link.usedBytes))/\(ByteSize(bytes: link.bytes))")
    if let end = link.expiresAt { parts.append("until \(end.formatted(.iso8601))") }
    parts.append("by \(link.createdBy)")
    return parts.joined(separator: "  ")
  }
}

/// A number of bytes on the command line, such as `500MB`.
struct ByteSize: Sendable, Hashable, ExpressibleByArgument, CustomStringConvertible {
  private static let units: [(String, Int64)] = [
    ("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000), ("B", 1),
  ]

  let bytes: Int64

  init(bytes: Int64) { self.bytes = bytes }

  /// Parses digits and a unit; without a unit, bytes are meant.
  init?(argument: String) {
    let digits = argument.prefix { $0.isASCII && $0.isNumber }
    let name = argument.dropFirst(digits.count)
    let unit = name.isEmpty ? 1 : Self.units.first { $0.0 == name }?.1
    guard let count = Int64(digits), let unit else { return nil }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: unit)
    guard !overflow else { return nil }
    self.bytes = bytes
  }

  /// The number in the largest unit that gives an integer.
  var description: String {
    let unit = Self.units.first { bytes.isMultiple(of: $0.1) && bytes >= $0.1 } ?? ("B", 1)
    return "\(bytes / unit.1)\(unit.0)"
  }
}
