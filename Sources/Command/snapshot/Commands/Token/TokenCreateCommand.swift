import AccessControl
import ArgumentParser
import Foundation
import SnapshotFormat

struct TokenCreateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Creates a token, and prints it.",
    discussion: """
      The token cannot be shown again, since only a keyed hash of it is stored. Only the token is written to stdout, \
      so that it can be redirected to a file: snapshot token create --scope read > token

      attach is meant for tokens inside an app: it allows attaching snapshots, and reading the status of those \
      attached with this token. read allows reading and listing, comment allows commenting on snapshots, delete \
      allows deleting, pinning and commenting, admin allows everything.
      """)

  @Option(help: "The allowed use: attach, read, comment, delete or admin; can be repeated.")
  var scope: [Scope]

  @Option(help: ArgumentHelp("A name for the token.", valueName: "text"))
  var name: String?

  @Option(
    help: ArgumentHelp(
      "Only reports whose id begins with this text, such as BUG-; can be repeated.", valueName: "prefix"))
  var reports: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only snapshots of this application, such as com.example.news; can be repeated.",
      valueName: "identifier"))
  var application: [String] = []

  @Option(
    help: ArgumentHelp(
      "How long the token is valid: 1h, 30d, 52w (default: without limit).", valueName: "time"))
  var expires: TimeSpan?

  @Option(
    help: ArgumentHelp(
      "The maximum rate of requests: 10/s, 100/min, 1000/h (default: the server's setting).",
      valueName: "rate"))
  var rate: RateLimit?

  @Option(
    help: ArgumentHelp(
      "The maximum amount of uploaded data: 500MB/h, 10GB/d (default: the server's setting).",
      valueName: "quota"))
  var quota: UploadQuota?

  @Flag(help: "Print the token and its properties as JSON.")
  var json = false

  @OptionGroup var options: StorageOptions

  func run() async throws {
    let now = Date()
    let limits = CallerLimits(
      reportPrefixes: reports.isEmpty ? nil : Set(reports),
      applications: application.isEmpty ? nil : Set(application))
    let request = TokenStore.Request(
      name: name, scopes: Set(scope), limits: limits, rate: rate, quota: quota,
      expiresAt: expires.map { now.addingTimeInterval(Double($0.seconds)) })
    let (token, secret) = try await options.withTokens { try $0.create(request, now: now) }
    let folder = URL(filePath: try options.path())
    Console.message("Created the token \(token.id) in \(folder.path). It cannot be shown again.")
    if json {
      let answer = Answer(token: secret, known: token)
      Console.print(json: answer)
    } else {
      Console.print(secret)
    }
  }

  private struct Answer: Encodable {
    let token: String
    let known: AccessToken

    private enum CodingKeys: CodingKey {
      case token
    }

    func encode(to encoder: any Encoder) throws {
      try known.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(token, forKey: .token)
    }
  }
}
