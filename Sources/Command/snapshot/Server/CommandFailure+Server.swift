import FileStore
import HTTPTLS
import SnapshotServer

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
    case .storage(.flawed), .quotaUnsupported, .sharedSettings: self.init(error.description, status: .refused)
    case .storage(.backup), .storage(.migrating), .storage(.restoring):
      self.init(error.description, status: .refused)
    case .storage, .objectStore, .database, .catalog, .auditLog: self.init(error.description)
    }
  }
}
