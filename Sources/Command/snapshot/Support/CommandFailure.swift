import FileStore
import HTTPTLS
import SnapshotClient
import SnapshotFormat
import SnapshotServer
import Webhooks

/// The reason why a command fails: one sentence with the cause and the remedy.
struct CommandFailure: Error, CustomStringConvertible {
  /// The exit code of the process; 0 is success.
  enum Status: Int32, Sendable {
    /// Something did not work.
    case failed = 1
    /// The input was refused, or did not verify.
    case refused = 2
    /// The arguments are wrong. ArgumentParser exits with the same code.
    case usage = 64
  }

  let description: String
  let status: Status

  init(_ description: String, status: Status = .failed) {
    self.description = description
    self.status = status
  }
}

extension CommandFailure {
  /// Describes an error of the client. The status depends on whether the input was refused or something failed.
  init(_ error: SnapshotClientError) {
    let refusals: Set<SnapshotClientError.Code> = [
      .invalidServer, .invalidToken, .insecureToken, .invalidRequest, .digestMismatch, .conflict,
      .bundleTooLarge,
      .refused,
    ]
    let mend =
      error.code == .unauthorized
      ? " Pass the token with --token-file FILE or in the environment variable SNAPSHOT_TOKEN." : ""
    self.init(error.description + mend, status: refusals.contains(error.code) ? .refused : .failed)
  }
}

extension CommandFailure {
  /// Describes an error of app data. The status depends on whether the data was refused or the disk failed.
  init(_ error: AppDataError) {
    self.init(error.description, status: error.isSystemFailure ? .failed : .refused)
  }
}

extension CommandFailure {
  /// The failure of a server that does not start, with the options that help.
  init(_ error: ServerError) {
    switch error {
    case .invalidHost(let host):
      self.init("‘\(host)’ is neither an IP address nor localhost; give one as --host.", status: .refused)
    case .tokenMissing:
      self.init(
        """
        \(error) Make one with `snapshot token create`, listen on 127.0.0.1, or pass --insecure if a proxy in front \
        controls access.
        """, status: .refused)
    case .tokens(let error): self.init(error)
    case .tls(let error): self.init(error.description, status: .refused)
    case .webhooks(.outbox): self.init(error.description)
    case .webhooks: self.init(error.description, status: .refused)
    case .storage(.flawed), .quotaUnsupported, .sharedSettings, .listening:
      self.init(error.description, status: .refused)
    case .storage(.backup), .storage(.migrating), .storage(.restoring):
      self.init(error.description, status: .refused)
    case .storage, .objectStore, .database, .catalog, .auditLog: self.init(error.description)
    }
  }
}
