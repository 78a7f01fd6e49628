package import Foundation
import HTTPSemantics
package import HTTPClient
import SystemIO

/// Where a client gets its credentials from. It is asked before every request.
package enum CredentialSource: Sendable {
  /// Always the same credentials.
  case constant(S3Credentials)
  /// A file that can change at any time.
  case file(CredentialsFile)
  /// Temporary credentials of the role that an orchestrator has given to this process.
  case webIdentity(WebIdentity)

  /// Reads the environment variables that AWS's programs read. The first of these that are set count:
  /// 1. `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`;
  /// 2. `AWS_WEB_IDENTITY_TOKEN_FILE`, `AWS_ROLE_ARN` and `AWS_ROLE_SESSION_NAME`, with the security token service of
  ///    `AWS_ENDPOINT_URL_STS`, or of the region `AWS_REGION`;
  /// 3. `AWS_SHARED_CREDENTIALS_FILE`, which names a file, and `AWS_PROFILE`.
  ///
  /// Throws ``S3Error/credentials(_:)`` if there are none, or a part is missing.
  package static func environment(_ variables: [String: String]) throws(S3Error) -> CredentialSource {
    let accessKey = variables["AWS_ACCESS_KEY_ID"]?.trimmedSecret
    let secretKey = variables["AWS_SECRET_ACCESS_KEY"]?.trimmedSecret
    if accessKey == nil, secretKey == nil {
      if let identity = try WebIdentity(variables) { return .webIdentity(identity) }
      if let path = variables["AWS_SHARED_CREDENTIALS_FILE"] {
        return .file(CredentialsFile(path: path, profile: variables["AWS_PROFILE"] ?? "default"))
      }
    }
    guard let accessKey, let secretKey else {
      throw .credentials("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must both be set")
    }
    guard
      let credentials = S3Credentials(
        accessKey: accessKey, secretKey: secretKey,
        sessionToken: variables["AWS_SESSION_TOKEN"]?.trimmedSecret)
    else { throw .credentials("a variable is empty, or has a character that is not visible ASCII") }
    return .constant(credentials)
  }

  /// The present credentials. A changed file, which is small and local, is read again.
  /// - Parameters:
  ///   - transport: sends requests to the security token service.
  ///   - now: the time by which credentials expire.
  package func credentials(over transport: any Transport, at now: Date) async throws(S3Error) -> S3Credentials
  {
    switch self {
    case .constant(let credentials): credentials
    case .file(let file): try file.credentials
    case .webIdentity(let identity): try await identity.credentials(over: transport, at: now)
    }
  }
}

extension WebIdentity {
  /// `nil` if the variables name no file with a token.
  fileprivate convenience init?(_ variables: [String: String]) throws(S3Error) {
    guard let tokenPath = variables["AWS_WEB_IDENTITY_TOKEN_FILE"] else { return nil }
    guard let role = variables["AWS_ROLE_ARN"] else {
      throw .credentials("AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN must both be set")
    }
    let host = variables["AWS_REGION"].map { "sts.\($0).amazonaws.com" } ?? "sts.amazonaws.com"
    let address = variables["AWS_ENDPOINT_URL_STS"] ?? "https://\(host)"
    guard let endpoint = URL(string: address), endpoint.host() != nil,
      ["http", "https"].contains(endpoint.scheme)
    else { throw .credentials("\(address) is not the address of a security token service") }
    self.init(
      endpoint: endpoint, role: role,
      sessionName: variables["AWS_ROLE_SESSION_NAME"] ?? "data-snapshots", tokenPath: tokenPath)
  }
}

/// A file with credentials in AWS's format, which is read again when it changes:
///
///     [default]
///     aws_access_key_id = …
///     aws_secret_access_key = …
///     aws_session_token = …
///
/// A change that can't be read is ignored, so that a file may be replaced in several steps. Thread-safe.
package final class CredentialsFile: Sendable {
  /// Identifies the contents that were read.
  private struct Version: Hashable {
    var size: Int64
    var modified: Int64
    var identity: FileIdentity
  }

  private struct State {
    var version: Version?
    var credentials: S3Credentials?
  }

  private let path: String
  private let profile: String
  private let state = Lock(State())

  /// Names a file. It is read when it is first needed.
  package init(path: String, profile: String = "default") {
    self.path = path
    self.profile = profile
  }

  /// The credentials in the file. Throws ``S3Error/credentials(_:)`` if the file can't be read and never could.
  package var credentials: S3Credentials {
    get throws(S3Error) {
      try state.withLock { state throws(S3Error) in
        do throws(S3Error) {
          return try read(&state)
        } catch {
          guard let credentials = state.credentials else { throw error }
          return credentials
        }
      }
    }
  }

  private func read(_ state: inout State) throws(S3Error) -> S3Credentials {
    let text: String
    do {
      // Orchestrators provide such files as symbolic links.
      let file = try File(URL(filePath: path).resolvingSymlinksInPath().path)
      let version = Version(
        size: try file.size, modified: try file.modifiedNanoseconds, identity: try file.identity)
      if let credentials = state.credentials, state.version == version { return credentials }
      state.version = version
      text = String(decoding: try file.read(upTo: S3Limits.credentialsBytes, at: 0), as: UTF8.self)
    } catch {
      throw .credentials("the file of the credentials can't be read: \(error)")
    }
    guard let credentials = S3Credentials(profile: profile, in: text) else {
      throw .credentials("\(path) has no complete profile \(profile)")
    }
    state.credentials = credentials
    return credentials
  }
}

extension S3Credentials {
  /// Reads a profile of a file in AWS's format; `nil` if it is missing or incomplete.
  fileprivate init?(profile: String, in text: String) {
    var values: [String: String] = [:]
    var isWanted = false
    for line in text.split(whereSeparator: \.isNewline) {
      let line = Substring(line.trimmedSecret)
      if line.hasPrefix("["), line.hasSuffix("]") {
        isWanted = line.dropFirst().dropLast().trimmedSecret == profile
      } else if isWanted, !line.hasPrefix("#"), !line.hasPrefix(";"), let equals = line.firstIndex(of: "=") {
        values[line[..<equals].trimmedSecret] = line[line.index(after: equals)...].trimmedSecret
      }
    }
    guard let accessKey = values["aws_access_key_id"], let secretKey = values["aws_secret_access_key"] else {
      return nil
    }
    self.init(accessKey: accessKey, secretKey: secretKey, sessionToken: values["aws_session_token"])
  }
}
