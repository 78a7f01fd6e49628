import AccessControl
import ArgumentParser
import Foundation
import SnapshotFormat

struct TokenRevokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Revokes tokens permanently and immediately, and prints their ids.",
    discussion: "The tokens' properties are kept, so that ids in logs can still be looked up.")

  @Argument(help: ArgumentHelp("The tokens' ids, as `snapshot token list` shows them.", valueName: "id"))
  var ids: [String]

  @Flag(help: "Print the tokens' properties as one JSON array.")
  var json = false

  @OptionGroup var options: StorageOptions

  func run() async throws {
    var revoked: [AccessToken] = []
    for id in ids {
      let token = try await options.withTokens { store in
        do throws(TokenStoreError) { return try store.revoke(id) } catch {
          throw CommandFailure("\(id): \(error)", status: CommandFailure(error).status)
        }
      }
      revoked.append(token)
      if !json { Console.print(id) }
    }
    if json {
      Console.print(json: revoked)
    }
  }
}
