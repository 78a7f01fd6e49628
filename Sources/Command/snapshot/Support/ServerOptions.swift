public import ArgumentParser
import Foundation
import SnapshotClient
public import SnapshotFormat

/// Which server a command talks to, and with which right.
struct ServerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The server's address (environment: SNAPSHOT_SERVER; default: http://127.0.0.1:8080).", valueName: "url"
    ))
  var server: String?

  @Option(
    help: ArgumentHelp(
      "A file that holds the access token (environment: SNAPSHOT_TOKEN, the token itself).", valueName: "file"
    ))
  var tokenFile: String?

  /// The snapshot that a person means by `text`, and a client of the server that has it.
  func resolve(_ text: String) throws -> (snapshot: SnapshotReference, client: SnapshotAPIClient) {
    let reference: SnapshotReference
    do {
      reference = try SnapshotReference(text)
    } catch {
      throw CommandFailure(error.description, status: .refused)
    }
    if reference.server != nil, server != nil {
      throw ValidationError("The address names its server; give it or --server, not both.")
    }
    return (reference, try client(link: reference.server?.absoluteString))
  }

  /// A client of the server that `link` leads to, or else of the configured one.
  ///
  /// A link may come from anybody: the token of the environment goes along only where it leads to the configured
  /// server; one that was named on the command line always does.
  func client(
    link: String? = nil, _ change: (inout SnapshotAPIClient.Configuration) -> Void = { _ in }
  ) throws -> SnapshotAPIClient {
    let environment = ProcessInfo.processInfo.environment
    let configured = server ?? environment["SNAPSHOT_SERVER"] ?? "http://127.0.0.1:8080"
    let url = try Self.url(link ?? configured)
    let isConfigured = try link == nil || url == Self.url(configured)
    var configuration = SnapshotAPIClient.Configuration()
    change(&configuration)
    return try SnapshotAPIClient(
      server: url, token: fileToken() ?? (isConfigured ? environment["SNAPSHOT_TOKEN"] : nil),
      configuration: configuration)
  }

  private static func url(_ address: String) throws(CommandFailure) -> URL {
    guard let url = URL(string: address) else {
      throw CommandFailure("‘\(address)’ is not an address such as http://127.0.0.1:8080.", status: .refused)
    }
    return url
  }

  private func fileToken() throws(CommandFailure) -> String? {
    guard let tokenFile else { return nil }
    do {
      return try String(contentsOf: URL(filePath: tokenFile), encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    } catch {
      throw CommandFailure("The token file \(tokenFile) can't be read.", status: .refused)
    }
  }
}

extension SnapshotID: ExpressibleByArgument {
  /// Reads a UUID from the command line.
  public init?(argument: String) { self.init(argument) }
}

extension ReportID {
  /// Reads a command's argument, and says what is wrong with it.
  init(argument: String) throws {
    do throws(Refusal) { try self.init(validating: argument) } catch {
      throw ValidationError(error.description)
    }
  }
}
