package import S3Client
package import SnapshotFormat
package import SnapshotStore
package import SystemIO

extension S3BundleStore {
  /// The settings of a store.
  package struct Configuration: Sendable {
    /// The local folder for bundles that arrive or are being read. It is created if it is missing. If its contents are
    /// deleted while a server uses it, only the requests fail whose bytes are deleted, and can be repeated.
    package var folder: String
    /// The checks of received bundles.
    package var validator: UploadValidator
    /// The limits of uploads.
    package var uploads = UploadLimits()
    /// The maximum size of the local files of bundles that were read recently, in bytes.
    package var cacheBytes = 1 << 30
    /// The free space of the local folder that uploads may not use, in bytes.
    package var reserve: Int64 = 0
    /// The queues on which the store works.
    package var queues = ServerQueues()
    /// The minimum size of a part of a resumable upload, in bytes. An object store demands at least
    /// ``/S3Client/S3Limits/minimumPartBytes``.
    package var partBytes = S3Limits.minimumPartBytes
    /// How long this server has the right to continue an upload after it received bytes of it. After this time, another
    /// server can take over from one that ended.
    package var uploadLease = Duration.seconds(5)
    /// The age at which bytes that nothing names are deleted.
    package var orphanAge = Duration.seconds(24 * 3600)
    /// Where the intents of changes are until the catalogue has these; `nil` if all records are compared with it instead.
    package var intents: (any ChangeIntents)?
    /// The records with which bundles are sent, so that the record in the object store is not read; `nil` if it always is.
    /// Needs ``intents``.
    package var settledRecords: (any SettledRecords)?
    /// The limits of the intents.
    package var journal = ChangeJournal.Limits()
    /// Called when an upload finds too little free space in the local folder, on a thread that may block. If it frees
    /// space, the upload uses that.
    package var onShortage: @Sendable () -> Void = {}
    /// Called whenever a bundle is opened, with where it was.
    package var onRead: @Sendable (CacheRead) -> Void = { _ in }
    /// Called with each record whose checksums were verified after its upload was answered.
    package var onVerification: @Sendable (SnapshotRecord) async -> Void = { _ in }

    /// Creates settings with the default values.
    package init(folder: String, validator: UploadValidator = UploadValidator()) {
      self.folder = folder
      self.validator = validator
    }
  }

  /// The reason why a store can't be opened.
  package enum OpeningError: Error, Sendable {
    /// Another server uses the local folder.
    case inUse(path: String)
    /// The local folder can't be used.
    case system(SystemError)
    /// The object store is the target of a migration that is not complete.
    case migrating
    /// The object store can't be used as it is set up, for the reason in this sentence.
    case unusable(String)
    /// The object store can't be used.
    case objectStore(S3Error)

    init(_ error: S3Error, at configuration: S3Configuration) {
      self = error.advice(at: configuration).map { .unusable($0) } ?? .objectStore(error)
    }
  }
}

extension S3BundleStore.OpeningError: CustomStringConvertible {
  /// A sentence for people.
  package var description: String {
    switch self {
    case .inUse(let path): "Another server uses \(path)."
    case .system(let error): "The local folder can't be used: \(error)"
    case .migrating:
      """
      A migration into the object store is not complete: run `snapshot migrate` with --finish, or name another prefix.
      """
    case .unusable(let reason): reason
    case .objectStore(let error): error.description
    }
  }
}
