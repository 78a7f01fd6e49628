public import ArgumentParser
import Foundation
import SnapshotClient
public import SnapshotFormat

/// Which server a command talks to, and with which right.
struct ServerOptions: ParsableArguments {
  @Option(help: "The server's address (environment: SNAPSHOT_SERVER; default: http://127.0.0.1:8080).")
  var server: String?

  @Option(help: "A file that holds the access token (environment: SNAPSHOT_TOKEN, the token itself).")
  var tokenFile: String?

  /// A client of that server; `fallback` is used where neither flag nor environment names one.
  func client(server fallback: String = "http://127.0.0.1:8080") throws -> SnapshotAPIClient {
    let environment = ProcessInfo.processInfo.environment
    let address = server ?? environment["SNAPSHOT_SERVER"] ?? fallback
    guard let url = URL(string: address) else {
      throw CommandFailure("‘\(address)’ is not an address such as http://127.0.0.1:8080.", status: .refused)
    }
    return try SnapshotAPIClient(server: url, token: token(environment))
  }

  private func token(_ environment: [String: String]) throws(CommandFailure) -> String? {
    guard let tokenFile else { return environment["SNAPSHOT_TOKEN"] }
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
    do throws(Refusal) { try self.init(argument) } catch { throw ValidationError(error.description) }
  }
}
