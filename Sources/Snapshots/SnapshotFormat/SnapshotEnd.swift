public import Foundation

/// When a snapshot is to go by itself, as somebody asks for it: a time, a while from now, or never.
public enum SnapshotEnd: Hashable, Sendable, LosslessStringConvertible {
  /// It has no end of its own.
  case never
  /// At this time, to the millisecond.
  case at(Date)
  /// So long after the server is told.
  case after(TimeSpan)

  /// Reads `never`, a time in RFC 3339 such as `2027-03-01T00:00:00Z`, or a ``TimeSpan`` such as `30d`; else `nil`.
  public init?(_ text: String) {
    if text == "never" {
      self = .never
    } else if let span = TimeSpan(text) {
      self = .after(span)
    } else if let time = SnapshotJSON.time(text) {
      self = .at(time)
    } else {
      return nil
    }
  }

  /// What ``init(_:)`` reads.
  public var description: String {
    switch self {
    case .never: "never"
    case .at(let time): SnapshotJSON.text(of: time)
    case .after(let span): span.description
    }
  }

  /// The time that is meant by whoever says it at `now`; `nil` is never.
  public func time(from now: Date) -> Date? {
    switch self {
    case .never: nil
    case .at(let time): SnapshotJSON.milliseconds(of: time)
    case .after(let span): SnapshotJSON.milliseconds(of: now.addingTimeInterval(Double(span.seconds)))
    }
  }
}
