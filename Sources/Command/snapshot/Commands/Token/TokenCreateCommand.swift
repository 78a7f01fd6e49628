import AccessControl
import ArgumentParser
import Foundation
import SnapshotFormat

struct TokenCreateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Makes a token, and prints it.",
    discussion: """
      The token is shown this once: only a keyed hash of it is kept. What is on stdout is the token alone, so that it \
      can go into a file: snapshot token create --scope read > token

      attach ships inside an app: it may attach, and see the status of what was attached with it. read may read and \
      list, delete may delete, admin may do everything.
      """)

  @Option(help: "What it may be used for: attach, read, delete or admin; may be repeated.")
  var scope: [Scope]

  @Option(help: ArgumentHelp("What people call it.", valueName: "text"))
  var name: String?

  @Option(
    help: ArgumentHelp(
      "Only reports whose id begins so, such as BUG-; may be repeated.", valueName: "beginning"))
  var reports: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only snapshots of this application, such as com.example.news; may be repeated.",
      valueName: "identifier"))
  var application: [String] = []

  @Option(help: ArgumentHelp("How long it is taken: 1h, 30d, 52w (default: for ever).", valueName: "time"))
  var expires: TimeSpan?

  @Option(
    help: ArgumentHelp(
      "How many requests it may make: 10/s, 100/min, 1000/h (default: the server's setting).",
      valueName: "rate"))
  var rate: RateLimit?

  @Option(
    help: ArgumentHelp(
      "How many bytes may be uploaded with it: 500MB/h, 10GB/d (default: the server's setting).",
      valueName: "quota"))
  var quota: UploadQuota?

  @Flag(help: "Print the token and what is known of it as JSON.")
  var json = false

  @OptionGroup var options: StorageOptions

  func run() async throws {
    let (store, folder) = try options.tokens()
    let now = Date()
    let limits = CallerLimits(
      reportPrefixes: reports.isEmpty ? nil : Set(reports),
      applications: application.isEmpty ? nil : Set(application))
    let request = TokenStore.Request(
      name: name, scopes: Set(scope), limits: limits, rate: rate, quota: quota,
      expiresAt: expires.map { now.addingTimeInterval(Double($0.seconds)) })
    let (token, secret): (AccessToken, String)
    do throws(TokenStoreError) {
      (token, secret) = try store.create(request, now: now)
    } catch {
      throw CommandFailure(error)
    }
    Console.note("Made the token \(token.id) of \(folder.path). It is shown this once.")
    if json {
      let answer = Answer(token: secret, known: token)
      Console.print(String(decoding: try SnapshotJSON.encode(answer, pretty: true), as: UTF8.self))
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
