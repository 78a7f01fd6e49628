package import AccessControl
package import FileStore
package import HTTPTLS
package import S3Store
package import SnapshotStore
package import SystemIO
package import Webhooks

/// The reason why a server does not start.
package enum ServerError: Error, Sendable {
  /// The host is neither an IP address nor localhost.
  case invalidHost(String)
  /// The settings of listening do not fit each other, as this sentence says.
  case listening(String)
  /// The host can be reached from other machines, and there is no token yet.
  case tokenMissing(host: String)
  /// The tokens in the storage folder can't be read.
  case tokens(TokenStoreError)
  /// The storage folder can't be used.
  case storage(FileBundleStore.OpeningError)
  /// The settings of shared snapshots do not fit each other.
  case sharedSettings(SharedSettingsError)
  /// The database can't be used, for the reason in this sentence.
  case database(String)
  /// The object store can't be used.
  case objectStore(S3BundleStore.OpeningError)
  /// The settings have a quota, and the storage has none.
  case quotaUnsupported
  /// The catalogue can't be opened.
  case catalog(CatalogError)
  /// A certificate, its key or a setting of HTTPS can't be used.
  case tls(TLSError)
  /// The audit log can't be written.
  case auditLog(SystemError)
  /// The settings of webhooks, or their outbox, can't be used.
  case webhooks(WebhookError)
}

extension ServerError {
  /// Whether another process uses the storage folder.
  package var isStorageInUse: Bool {
    switch self {
    case .storage(.inUse), .objectStore(.inUse): true
    default: false
    }
  }
}

extension ServerError: CustomStringConvertible {
  /// A sentence for people.
  package var description: String {
    switch self {
    case .invalidHost(let host): "‘\(host)’ is neither an IP address nor localhost."
    case .listening(let problem): problem
    case .tokenMissing(let host):
      "There is no token yet, so every client that reaches \(host) could read and write every snapshot."
    case .tokens(let error): error.description
    case .storage(let error): error.description
    case .sharedSettings(let error): error.description
    case .database(let reason): "The database can't be used. \(reason)"
    case .objectStore(let error): error.description
    case .quotaUnsupported:
      "The setting server.retention.quotaBytes needs a storage folder: servers with an object store don't share a quota."
    case .catalog(let error): error.description
    case .tls(let error): error.description
    case .webhooks(let error): error.description
    case .auditLog(let error): "The audit log can't be written: \(error)"
    }
  }
}
