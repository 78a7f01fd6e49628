import AccessControl
import ArgumentParser
import Foundation
import PostgreSQLStore
import SnapshotServer

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token",
    abstract: "Creates, lists and revokes access tokens for the server.",
    discussion: """
      Works on the storage folder, and must be run as the user of the server. A running server applies changes \
      immediately. As soon as there is a token, every request requires one.
      """,
    subcommands: [TokenCreateCommand.self, TokenListCommand.self, TokenRevokeCommand.self])
}

/// The storage that a command works on.
struct StorageOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The storage folder (default: the one that `snapshot serve` uses).", valueName: "folder"))
  var storage: String?

  @Option(
    help: ArgumentHelp(
      "The settings file (default: Config/server.yaml, if it exists).", valueName: "file"))
  var config: String?

  /// The settings of the server that uses the storage.
  private func settings() throws -> ServerSettings {
    var flags: [String: String] = [:]
    flags["server.storage"] = storage
    return try ServerSettings(
      flags: flags, file: config ?? "Config/server.yaml", fileIsRequired: config != nil)
  }

  /// The path of the storage folder.
  func path() throws -> String { try settings().storage }

  /// Runs `body` with the tokens in the storage folder, or with those that servers share. Throws if files would be
  /// written into a folder of another user.
  func withTokens<Value: Sendable>(
    areChanged: Bool = true, _ body: @escaping @Sendable (TokenStore) throws -> Value
  ) async throws -> Value {
    let settings = try settings()
    // The folder has a copy of shared tokens, which is updated first.
    if areChanged || settings.shared.isEnabled { try requireOwner() }
    return try await settings.changingTokens(body)
  }

  /// Throws if the storage folder exists and belongs to another user, because the server could not read new files.
  func requireOwner() throws {
    let folder = URL(filePath: try path())
    if let owner = Self.owner(of: folder), owner != geteuid() {
      throw CommandFailure(
        """
        \(folder.path) belongs to the user \(owner), and the server runs as this user. Run the command as the same \
        user, for example with sudo -u '#\(owner)'.
        """, status: .refused)
    }
  }

  /// The user id of the folder's owner; `nil` if there is no folder yet.
  private static func owner(of folder: URL) -> UInt32? {
    do {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.path)
      return (attributes[.ownerAccountID] as? NSNumber)?.uint32Value
    } catch {
      return nil
    }
  }
}

extension ServerSettings {
  /// Runs `body` with the tokens in the storage folder. If servers share their tokens, all of them get the changes.
  func changingTokens<Value: Sendable>(
    _ body: @escaping @Sendable (TokenStore) throws -> Value
  ) async throws -> Value {
    let store = TokenStore(storage: URL(filePath: storage).path)
    do {
      try requireSoundStorage()
      return try await PostgreSQLTokens.change(of: self) { try body(store) }
    } catch let error as TokenStoreError {
      throw CommandFailure(error)
    } catch let error as ServerError {
      throw CommandFailure(error)
    } catch let error as SharedSettingsError {
      throw CommandFailure(.sharedSettings(error))
    } catch let error as CommandFailure {
      throw error
    } catch {
      throw CommandFailure(.database("\(error)"))
    }
  }
}

extension CommandFailure {
  /// Describes an error of the tokens. The status depends on whether the input was refused or the disk failed.
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
  /// Parses a command-line argument such as `10GB/d`.
  public init?(argument: String) { self.init(argument) }
}

extension RateLimit: ExpressibleByArgument {
  /// Parses a command-line argument such as `100/min`.
  public init?(argument: String) { self.init(argument) }
}
