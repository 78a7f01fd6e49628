public import Foundation

/// Something that an app should hear of while it goes on.
public struct RepositoryEvent: Sendable, Hashable, CustomStringConvertible {
  /// What happened.
  public enum Kind: String, Sendable, CaseIterable {
    /// The file can't be written just now. Told once, however often it is tried, until ``savedAgain``.
    case notSaved
    /// The file can be written again, and holds what was committed last.
    case savedAgain
    /// A file of an older schema was brought up to date.
    case migrated
    /// A file of a newer schema, or an older one whose place was needed, was set aside unread.
    case setAside
    /// A file that had been set aside is in its place again.
    case cameBack
    /// A file that makes no sense was set aside; its reason lies beside it.
    case corrupt
    /// A copy of the critical values was lost or damaged, and was made again from the other one.
    case healed
  }

  /// What happened.
  public let kind: Kind
  /// The file that it was about: of the repository, or under the name that it was set aside.
  public let file: URL
  /// What was the matter, for people and logs.
  public let reason: String

  init(_ kind: Kind, _ path: String, _ reason: String) {
    self.kind = kind
    file = URL(filePath: path)
    self.reason = reason
  }

  /// One line.
  public var description: String { "\(kind) \(file.lastPathComponent): \(reason)" }
}
