public import Foundation

/// An event in a repository's storage that the app should know about.
public struct RepositoryEvent: Sendable, Hashable, CustomStringConvertible {
  /// The kind of event.
  public enum Kind: String, Sendable, CaseIterable {
    /// The file can't be written now. Reported once for a series of failures, until ``savedAgain``.
    case notSaved
    /// The file can be written again, and contains the last committed value.
    case savedAgain
    /// A file of an older schema was migrated.
    case migrated
    /// A file of a newer schema, or an older one that a newer file replaced, was set aside.
    case setAside
    /// A file that had been set aside was moved back, or elements of a file can be decoded again.
    case cameBack
    /// A file that this version of the app can't decode was set aside, or elements of the file can't be decoded and are
    /// kept in it. Every later version tries them again.
    case undecoded
    /// A corrupt file was set aside; a file beside it contains the reason.
    case corrupt
    /// A copy of the critical values was lost or damaged, and was restored from the other copy.
    case healed
  }

  /// The kind of event.
  public let kind: Kind
  /// The file concerned: the repository's file, or the file that was set aside, under its new name.
  public let file: URL
  /// A description of the cause for people and logs.
  public let reason: String

  init(_ kind: Kind, _ path: String, _ reason: String) {
    self.kind = kind
    file = URL(filePath: path)
    self.reason = reason
  }

  /// The kind, the file's name and the reason in one line.
  public var description: String { "\(kind) \(file.lastPathComponent): \(reason)" }
}
