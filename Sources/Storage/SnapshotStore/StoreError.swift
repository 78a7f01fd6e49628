public import SnapshotFormat
public import SystemIO

/// The reason why a store refused or failed an operation.
public enum StoreError: Error, Sendable {
  /// No bundle has that UUID, or the upload has ended.
  case notFound
  /// The bundle of that UUID was deleted.
  case deleted
  /// The UUID is taken by other bytes, or for another report.
  case conflict
  /// The UUID is taken, and the upload has ``Attachment/createOnly`` set.
  case alreadyExists
  /// The received bytes have another digest than the sender stated.
  case digestMismatch(expected: ContentDigest, actual: ContentDigest)
  /// The received bytes are not a valid snapshot bundle.
  case invalid(BundleError)
  /// The bundle was made by an application that is not allowed.
  case foreignApplication
  /// The disk has no space left.
  case outOfSpace
  /// The file system can create no more files, although it may have space left.
  case outOfInodes
  /// The bundles would exceed the store's quota of `limit` bytes.
  case quotaExceeded(limit: Int64)
  /// The stored bytes of the bundle, or its record, are not those that were written.
  case damaged
  /// The snapshot has the maximum number of comments.
  case tooManyComments(limit: Int)
  /// The store does not answer, or refuses to. The operation may have taken effect. The text is for the log only.
  case unavailable(String)
  /// The disk or the system failed. The text is for the log only.
  case system(SystemError)

  /// Distinguishes a full disk from all other failures of the system.
  public init(_ failure: SystemError) {
    self =
      if failure.isOutOfInodes { .outOfInodes } else if failure.isOutOfSpace { .outOfSpace } else {
        .system(failure)
      }
  }

  /// Runs `body`, and throws its failure as an error of the store. A closure has to say `() throws(SystemError) in`:
  /// without it, some orders in which the compiler reads the files let it infer `any Error`, which it then refuses.
  package static func disk<Value>(_ body: () throws(SystemError) -> Value) throws(StoreError) -> Value {
    do { return try body() } catch { throw StoreError(error) }
  }
}

extension StoreError: CustomStringConvertible {
  /// A sentence for people. The texts of ``unavailable(_:)`` and ``system(_:)`` contain names of the
  /// server and are for its log only.
  public var description: String {
    switch self {
    case .notFound: "There is no snapshot with this id."
    case .deleted: "The snapshot with this id was deleted."
    case .conflict: "Another snapshot has this id already, or the same one is attached to another report."
    case .alreadyExists: "A snapshot with this id exists already."
    case .digestMismatch(let expected, let actual):
      "The bundle was damaged on its way: its SHA-256 is \(actual), and the sender stated \(expected)."
    case .invalid(let reason): reason.description
    case .foreignApplication: "The bundle was made by an application that this token may not attach."
    case .outOfSpace:
      "The server has no room for the bundle: free disk space, or lower reservedBytes in its settings."
    case .outOfInodes:
      "The file system of the server has no inodes left: remove files, or use one with more inodes."
    case .quotaExceeded(let limit):
      "The server keeps at most \(limit) bytes of bundles, and this one would exceed that."
    case .damaged: "The server's copy of this snapshot is damaged and can't be downloaded."
    case .tooManyComments(let limit): "The snapshot has \(limit) comments, which is the maximum."
    case .unavailable(let reason): reason
    case .system(let failure): failure.description
    }
  }
}
