public import Foundation

/// A request for the expiry of a snapshot: at a time, after a duration, or never.
public enum SnapshotEnd: Hashable, Sendable, LosslessStringConvertible {
  /// The snapshot has no expiry time of its own.
  case never
  /// The snapshot expires at this time, with millisecond precision.
  case at(Date)
  /// The snapshot expires this long after the server receives the request.
  case after(TimeSpan)

  /// Parses `never`, a time in RFC 3339 such as `2027-03-01T00:00:00Z`, or a ``TimeSpan`` such as `30d`; otherwise
  /// `nil`.
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

  /// The text that ``init(_:)`` parses.
  public var description: String {
    switch self {
    case .never: "never"
    case .at(let time): SnapshotJSON.text(of: time)
    case .after(let span): span.description
    }
  }

  /// The expiry time of a request received at `now`; `nil` for never.
  public func time(from now: Date) -> Date? {
    switch self {
    case .never: nil
    case .at(let time): SnapshotJSON.milliseconds(of: time)
    case .after(let span): SnapshotJSON.milliseconds(of: now.addingTimeInterval(Double(span.seconds)))
    }
  }
}
