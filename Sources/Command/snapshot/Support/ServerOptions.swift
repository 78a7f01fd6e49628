public import ArgumentParser
import Foundation
import HTTPSemantics
import HTTPClient
import SnapshotClient
public import SnapshotFormat
import SystemIO

/// The server that a command uses, and the access token.
struct ServerOptions: ParsableArguments {
  /// The most bytes of a file with a token.
  private static let maximumTokenBytes = 64 << 10
  /// The most bytes of a file with authorities. A system's own has some 250 KB.
  private static let maximumAuthoritiesBytes = 16 << 20

  @Option(
    help: ArgumentHelp(
      "The server's address (environment: SNAPSHOT_SERVER; default: http://127.0.0.1:8080).", valueName: "url"
    ))
  var server: String?

  @Option(
    help: ArgumentHelp(
      "A file with the access token (environment: SNAPSHOT_TOKEN, the token itself).", valueName: "file"
    ))
  var tokenFile: String?

  @Option(
    help: ArgumentHelp(
      "The pin of the server's key, which `snapshot serve --tls-self-signed` prints (environment: SNAPSHOT_PIN).",
      valueName: "sha256//…"))
  var pin: String?

  @Option(
    help: ArgumentHelp(
      "A PEM file with further authorities for the server's certificate (Linux).", valueName: "file"))
  var caFile: String?

  /// Whether a server is named; otherwise the default is meant.
  var isServerNamed: Bool { (server ?? Self.variable("SNAPSHOT_SERVER")) != nil }

  /// Finds the snapshot that `text` names (``SnapshotName``), and returns it with a client of its server: the one of
  /// `--server`, of the address in the text, or of the environment.
  func resolve(_ text: String) async throws -> (snapshot: SnapshotReference, client: SnapshotAPIClient) {
    try await resolve(SnapshotName(text))
  }

  /// Finds the snapshot with this name.
  func resolve(_ name: SnapshotName) async throws -> (snapshot: SnapshotReference, client: SnapshotAPIClient)
  {
    let client = try client(link: server == nil ? name.reference?.server?.absoluteString : nil)
    if let reference = name.reference { return (reference, client) }
    return (SnapshotReference(try await name.find(by: client.search)), client)
  }

  /// Returns a client of the server in `link`, or of the configured server if `link` is `nil`.
  ///
  /// A link can come from an untrusted source. The token in the environment is therefore sent only to the configured
  /// server. A token that was passed on the command line is always sent.
  func client(
    link: String? = nil, _ change: (inout SnapshotAPIClient.Configuration) -> Void = { _ in }
  ) throws -> SnapshotAPIClient {
    let configured = server ?? Self.variable("SNAPSHOT_SERVER") ?? "http://127.0.0.1:8080"
    let url = try Self.url(link ?? configured)
    let isConfigured = try link == nil || url == Self.url(configured)
    var configuration = SnapshotAPIClient.Configuration()
    change(&configuration)
    let token = try fileToken() ?? (isConfigured ? Self.variable("SNAPSHOT_TOKEN") : nil)
    if let text = pin ?? (isConfigured ? Self.variable("SNAPSHOT_PIN") : nil) {
      guard let pin = ServerPin(text) else {
        throw CommandFailure("‘\(text)’ is not a pin such as sha256//… with 44 characters.", status: .refused)
      }
      return try SnapshotAPIClient(server: url, token: token, pin: pin, configuration: configuration)
    }
    guard let caFile else {
      return try SnapshotAPIClient(server: url, token: token, configuration: configuration)
    }
    do {
      _ = try NamedFile.read(caFile, limit: Self.maximumAuthoritiesBytes)
    } catch {
      throw CommandFailure("Cannot read the file \(caFile) with authorities: \(error).", status: .refused)
    }
    let trust = ServerTrust.authorities(URL(filePath: caFile))
    return try SnapshotAPIClient(
      server: url, token: token, transport: SnapshotAPIClient.makeDefaultTransport(trust: trust),
      configuration: configuration)
  }

  private static func url(_ address: String) throws(CommandFailure) -> URL {
    guard let url = URL(string: address) else {
      throw CommandFailure("‘\(address)’ is not an address such as http://127.0.0.1:8080.", status: .refused)
    }
    return url
  }

  /// The value of an environment variable, without line ends and quotes around it; `nil` if it is empty or not set.
  private static func variable(_ name: String) -> String? {
    let value = ProcessInfo.processInfo.environment[name]?.trimmedSecret
    return value?.isEmpty == false ? value : nil
  }

  private func fileToken() throws(CommandFailure) -> String? {
    guard let tokenFile else { return nil }
    let bytes: [UInt8]
    do {
      bytes = try NamedFile.read(tokenFile, limit: Self.maximumTokenBytes)
    } catch {
      throw CommandFailure("Cannot read the token file \(tokenFile): \(error).", status: .refused)
    }
    // Some shells write UTF-16, with a byte order mark.
    let isUTF16 = bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
    guard let token = String(data: Data(bytes), encoding: isUTF16 ? .utf16 : .utf8)?.trimmedSecret else {
      throw CommandFailure("The token file \(tokenFile) is not text in UTF-8.", status: .refused)
    }
    return token
  }
}

extension SnapshotID: ExpressibleByArgument {
  /// Parses a UUID.
  public init?(argument: String) { self.init(argument) }
}

extension ReportID {
  /// Parses an argument, and throws an error with the reason if it is invalid.
  init(argument: String) throws {
    do { try self.init(validating: argument) } catch {
      throw ValidationError(error.description)
    }
  }
}

extension TimeSpan: ExpressibleByArgument {
  /// Parses a duration such as `90s`, `15m`, `1h`, `30d`.
  public init?(argument: String) { self.init(argument) }
}
