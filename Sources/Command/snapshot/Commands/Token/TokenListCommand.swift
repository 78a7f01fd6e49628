import AccessControl
import ArgumentParser
import Foundation
import SnapshotFormat

struct TokenListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the tokens' ids and properties, newest first.")

  @Flag(help: "Print one JSON array.")
  var json = false

  @OptionGroup var options: StorageOptions

  func run() async throws {
    let tokens = try await options.withTokens(areChanged: false) { try $0.list() }
    if json {
      Console.print(json: tokens)
      return
    }
    if tokens.isEmpty { Console.message("There are no tokens: everyone on this machine can read and write.") }
    let now = Date()
    for token in tokens { Console.print(Console.escaped(Self.line(token, now))) }
  }

  private static func line(_ token: AccessToken, _ now: Date) -> String {
    var parts = [
      token.id, token.state(at: now).rawValue, token.scopes.map(\.rawValue).sorted().joined(separator: ","),
      token.createdAt.formatted(.iso8601),
    ]
    if let end = token.expiresAt { parts.append("until \(end.formatted(.iso8601))") }
    if let reports = token.limits.reportPrefixes {
      parts.append("reports \(reports.sorted().joined(separator: ","))")
    }
    if let applications = token.limits.applications {
      parts.append("applications \(applications.sorted().joined(separator: ","))")
    }
    if let rate = token.rate { parts.append("\(rate)") }
    if let quota = token.quota { parts.append("\(quota)") }
    if let link = token.link {
      parts.append("to \(link.report), \(link.uses.count) of \(link.count) snapshots")
    }
    if let name = token.name { parts.append("“\(name)”") }
    return parts.joined(separator: "  ")
  }
}
