import AccessControl
import ArgumentParser
import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token",
    abstract: "Makes, lists and revokes the tokens that calls of the server need.",
    discussion: """
      Works on the storage folder, beside the server that runs on it, as the same user; what it does counts at once. \
      From the first token on every call needs one.
      """,
    subcommands: [TokenCreateCommand.self, TokenListCommand.self, TokenRevokeCommand.self])
}

/// Which storage a command works on.
struct StorageOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The storage folder (default: as `snapshot serve` would choose it).", valueName: "folder"))
  var storage: String?

  @Option(
    help: ArgumentHelp(
      "The server's settings (default: Config/server.yaml, if it is there).", valueName: "file"))
  var config: String?

  /// The folder's path.
  func path() throws -> String {
    var flags: [String: String] = [:]
    flags["server.storage"] = storage
    return try ServerSettings(
      flags: flags, file: config ?? "Config/server.yaml", fileIsRequired: config != nil
    ).storage
  }

  /// The folder's tokens, for changes that the server can read.
  func tokens() throws -> (store: TokenStore, folder: URL) {
    let folder = URL(filePath: try path())
    if let owner = Self.owner(of: folder), owner != geteuid() {
      throw CommandFailure(
        """
        \(folder.path) belongs to the user \(owner), as whom the server reads it: do this as the same user, such as \
        by sudo -u '#\(owner)'.
        """, status: .refused)
    }
    return (TokenStore(storage: folder.path), folder)
  }

  /// The user whose folder it is; `nil` where there is none yet.
  private static func owner(of folder: URL) -> UInt32? {
    do {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.path)
      return (attributes[.ownerAccountID] as? NSNumber)?.uint32Value
    } catch {
      return nil
    }
  }
}

extension CommandFailure {
  /// What is said of tokens, told apart by whether it was refused or the disk failed.
  init(_ error: TokenStoreError) {
    if case .system = error {
      self.init(error.description)
    } else {
      self.init(error.description, status: .refused)
    }
  }
}

extension Scope: ExpressibleByArgument {}

extension UploadQuota: ExpressibleByArgument {
  /// Reads `10GB/d` from the command line.
  public init?(argument: String) { self.init(argument) }
}

extension RateLimit: ExpressibleByArgument {
  /// Reads `100/min` from the command line.
  public init?(argument: String) { self.init(argument) }
}
