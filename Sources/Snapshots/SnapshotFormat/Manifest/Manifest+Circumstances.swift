public import Foundation
import JSONText
import SystemIO

/// Under which circumstances the recordings were made, so that code that depends on the date, the time zone or the
/// language can be replayed. Each is stored under a top-level key of its own, which older readers keep unread. A value of
/// another type is ignored.
extension Manifest {
  /// The identifier of the device's time zone in the IANA database, such as `Europe/Vienna`; `nil` if it is not known.
  public var timeZone: String? {
    get { text("timeZone") }
    set { unknown["timeZone"] = newValue.map(JSONValue.string) }
  }

  /// The identifier of the user's locale with its settings, such as `de_AT` or `en_GB@hours=h12`; `nil` if it is not
  /// known.
  public var locale: String? {
    get { text("locale") }
    set { unknown["locale"] = newValue.map(JSONValue.string) }
  }

  /// The name of the user's calendar in CLDR, such as `gregorian` or `buddhist`; `nil` if it is not known.
  public var calendar: String? {
    get { text("calendar") }
    set { unknown["calendar"] = newValue.map(JSONValue.string) }
  }

  private func text(_ key: String) -> String? {
    if case .string(let text) = unknown[key] { text } else { nil }
  }

  /// The time in which recordings were made.
  public struct Span: Hashable, Sendable {
    /// The time of the first recording; for an HTTP exchange its start.
    public var from: Date
    /// The time of the last recording, which is not before ``from``.
    public var to: Date

    /// Creates a span with millisecond precision; `nil` if `to` is before `from`.
    public init?(from: Date, to: Date) {
      guard from <= to else { return nil }
      self.from = SnapshotJSON.milliseconds(of: from)
      self.to = SnapshotJSON.milliseconds(of: to)
    }

    /// Creates the span of recordings; `nil` if there are none.
    package init?(of recordings: [(recordedAt: Date, exchange: Exchange?)]) {
      let times = recordings.flatMap { time, exchange in
        exchange.map { [$0.startedAt, $0.endedAt] } ?? [time]
      }
      guard let from = times.min(), let to = times.max() else { return nil }
      self.init(from: from, to: to)
    }
  }

  /// When the recordings were made: as the manifest says it, or else by the times of the recordings; `nil` if there are
  /// none.
  public var span: Span? {
    get {
      if case .object(let members) = unknown["span"], let from = Self.time(members["from"]),
        let to = Self.time(members["to"]), let span = Span(from: from, to: to)
      {
        return span
      }
      return Span(of: recordings.map { ($0.recordedAt, $0.exchange) })
    }
    set {
      unknown["span"] = newValue.map { span in
        .object([
          "from": .string(SnapshotJSON.text(of: span.from)), "to": .string(SnapshotJSON.text(of: span.to)),
        ])
      }
    }
  }

  private static func time(_ value: JSONValue?) -> Date? {
    guard case .string(let text) = value, let time = UTCTime.milliseconds(rfc3339: Array(text.utf8)[...])
    else { return nil }
    return Date(timeIntervalSince1970: Double(time) / 1000)
  }
}
