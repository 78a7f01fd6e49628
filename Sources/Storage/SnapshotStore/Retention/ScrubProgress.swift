public import Foundation
public import SnapshotFormat

/// The progress of a scrub as a line of text: the last id that was checked, or the time when the pass ended.
public enum ScrubProgress: Sendable, Hashable, LosslessStringConvertible {
  /// All bundles up to this one were checked, in the order of their ids.
  case reached(SnapshotID)
  /// All bundles were checked.
  case ended(Date)

  /// The maximum length of ``description`` in bytes.
  public static let maximumLength = 64

  /// Parses ``description``; `nil` if the text is malformed.
  public init?(_ text: String) {
    if let id = SnapshotID(text) {
      self = .reached(id)
    } else if let time = SnapshotJSON.time(text) {
      self = .ended(time)
    } else {
      return nil
    }
  }

  /// The progress as text.
  public var description: String {
    switch self {
    case .reached(let id): id.description
    case .ended(let time): SnapshotJSON.text(of: time)
    }
  }
}

/// Stores the progress of a scrub until the next pass, which may be run by another process.
public protocol ScrubProgressStore: Sendable {
  /// Returns the progress that was saved last; `nil` if there is none, or it is malformed.
  func load() async throws -> ScrubProgress?
  /// Replaces the stored progress. It is durable when the method returns.
  func save(_ progress: ScrubProgress) async throws
}
