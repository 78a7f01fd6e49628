/// Why a repository could not do what it was asked. Nothing has changed then, in memory or on the disk.
public struct RepositoryError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of failure it was.
  public enum Code: String, Sendable, CaseIterable {
    /// The file is there, but the system does not let it be read: a device that is locked, a wrong permission, a
    /// broken disk. The file is as it was; the same call may succeed later.
    case unreadable
    /// No room: the disk, the quota or the largest size of a file is used up.
    case outOfSpace
    /// The file can't be written for another reason.
    case notWritten
    /// The value can't be made into JSON, or not within ``FileLimits/bytes``.
    case notEncodable
    /// A model with the same id is there already.
    case duplicateID
    /// No model has the id.
    case notFound
    /// A change gave a model another id; remove the one and insert the other instead.
    case idChanged
    /// `update` was called from inside an `update` of the same repository.
    case nestedUpdate
    /// A key or a value is longer, or there are more of them, than ``CriticalValues/Limits`` allow.
    case overLimit
  }

  /// What kind of failure it was.
  public let code: Code
  /// What was wrong, for people and logs.
  public let reason: String

  /// Names a failure; for storages of your own.
  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  /// One line.
  public var description: String { "\(code): \(reason)" }
}

/// How large a repository's file may be.
public enum FileLimits {
  /// The most bytes of a file: 256 MiB. A larger value is not written (``RepositoryError/Code/notEncodable``), and
  /// a larger file not read but set aside.
  public static let bytes = 256 << 20
  /// The most files that are set aside as corrupt beside one file; the last one makes room for the next.
  public static let corruptFiles = 10
}
