/// The reason why a store cannot accept bundles.
public struct StorageFault: Sendable, Hashable {
  /// The kinds of reasons. The raw values are for clients; they never change, and reveal nothing about the server.
  public enum Reason: String, Sendable, CaseIterable, Codable {
    /// The disk is full, except for the reserved space.
    case outOfSpace = "out-of-space"
    /// The file system can create no more files.
    case outOfInodes = "out-of-inodes"
    /// The file system is read-only.
    case readOnly = "read-only"
    /// The disk or the system reports errors.
    case failing = "failing"
    /// A write does not complete within a few seconds.
    case notAnswering = "not-answering"
    /// A file or folder of the storage is gone.
    case missing = "missing"
    /// A file or folder of the storage is a symbolic link, or of another kind than it must be.
    case misplaced = "misplaced"
  }

  /// The kind of reason.
  public let reason: Reason
  /// The path of the file or folder in the storage folder, if it is missing or misplaced.
  public let name: String?

  /// Creates a reason.
  public init(_ reason: Reason, name: String? = nil) {
    self.reason = reason
    self.name = name
  }

  /// See ``Reason/outOfSpace``.
  public static let outOfSpace = StorageFault(.outOfSpace)
  /// See ``Reason/outOfInodes``.
  public static let outOfInodes = StorageFault(.outOfInodes)
  /// See ``Reason/readOnly``.
  public static let readOnly = StorageFault(.readOnly)
  /// See ``Reason/failing``.
  public static let failing = StorageFault(.failing)
  /// See ``Reason/notAnswering``.
  public static let notAnswering = StorageFault(.notAnswering)
}
