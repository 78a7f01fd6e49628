public import SystemIO

/// Why a ZIP archive, or one entry of it, is refused.
public struct ZipError: Error, Sendable, CustomStringConvertible {
  /// The entry that is to blame, where one is.
  public let entry: String?
  /// What is wrong.
  public let reason: Reason

  /// Everything that can be wrong.
  public enum Reason: Sendable, Hashable {
    case notAnArchive
    case system(SystemError)
  }

  /// Names what is wrong, and with which entry.
  public init(_ reason: Reason, entry: String? = nil) {
    self.reason = reason
    self.entry = entry
  }

  /// One sentence that names the entry and the reason.
  public var description: String { "stub" }
}
