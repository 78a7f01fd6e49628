/// The reason why a repository operation failed. Nothing has changed, in memory or on disk.
public struct RepositoryError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public enum Code: String, Sendable, CaseIterable {
    /// The file exists, but can't be read: the device is locked, a permission is missing, or the disk is broken. The
    /// file is unchanged; the same call can succeed later.
    case unreadable
    /// The disk, the quota or the maximum file size is exhausted.
    case outOfSpace
    /// The file can't be written for another reason.
    case notWritten
    /// The value can't be encoded as JSON, or its JSON exceeds ``FileLimits/bytes``.
    case notEncodable
    /// A model with the same id already exists.
    case duplicateID
    /// No model has the id, or a ``SingleRepository`` has no model.
    case notFound
    /// A change gave a model another id. Remove the model and insert it with the new id instead.
    case idChanged
    /// `update` was called from inside an `update` of the same repository.
    case nestedUpdate
    /// A key or a value is too long, or there are too many values: see ``CriticalValues/Limits``.
    case overLimit
  }

  /// The kind of failure.
  public let code: Code
  /// A description of the failure for people and logs.
  public let reason: String

  /// Creates an error; for your own storage types.
  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  /// The code and the reason in one line.
  public var description: String { "\(code): \(reason)" }
}

/// Limits for a repository's files.
public enum FileLimits {
  /// The maximum size of a file: 256 MiB. A larger value is not written (``RepositoryError/Code/notEncodable``), and a
  /// larger file is set aside as corrupt.
  public static let bytes = 256 << 20
  /// The maximum number of corrupt files that are kept beside one file, and of files that could not be decoded. At the
  /// limit, the last one is replaced.
  public static let corruptFiles = 10
}
