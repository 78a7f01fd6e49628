import Foundation
import JSONText
import Logging
import SystemIO

/// Writes log events to stderr: one JSON object per line, or plain lines if stderr is a terminal.
///
/// Events are written on a separate queue, so that a slow reader of stderr never blocks an event loop. Control
/// characters in events are escaped, so that they cannot control a terminal or begin a new line.
struct ConsoleLogHandler: LogHandler {
  enum Style: Sendable { case json, plain }

  /// The level of this logger alone; without one, it has the level that all share.
  private var ownLevel: Logger.Level?
  private let commonLevel: CommonLogLevel
  var logLevel: Logger.Level {
    get { ownLevel ?? commonLevel.value }
    set { ownLevel = newValue }
  }
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?
  private let label: String
  private let style: Style
  private let queue: LogQueue

  init(label: String, level: CommonLogLevel, style: Style, queue: LogQueue) {
    self.label = label
    self.style = style
    self.queue = queue
    commonLevel = level
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let values = Self.merge(Self.merge(metadata, metadataProvider?.get()), event.metadata)
    let (time, level, message) = (Date.now, event.level, event.message)
    queue.write { [label, style] in
      switch style {
      case .plain: Self.plain(time, level, message, values)
      case .json: Self.json(time, level, message, values, label: label)
      }
    }
  }

  private static func merge(_ outer: Logger.Metadata, _ inner: Logger.Metadata?) -> Logger.Metadata {
    guard let inner, !inner.isEmpty else { return outer }
    return outer.isEmpty ? inner : outer.merging(inner) { $1 }
  }

  private static func plain(
    _ time: Date, _ level: Logger.Level, _ message: Logger.Message, _ values: Logger.Metadata
  ) -> String {
    let pairs = values.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
    return Console.escaped("\(LogTime.text(of: time).dropFirst(11)) \(level) \(message)\(pairs)")
  }

  private static func json(
    _ time: Date, _ level: Logger.Level, _ message: Logger.Message, _ values: Logger.Metadata, label: String
  ) -> String {
    var fields = [
      (key: "time", value: LogTime.text(of: time)), (key: "level", value: level.rawValue),
      (key: "logger", value: label), (key: "message", value: message.description),
    ]
    let own = fields.count
    fields.reserveCapacity(own + values.count)
    for (key, value) in values where !fields[..<own].contains(where: { $0.key == key }) {
      fields.append((key, text(of: value)))
    }
    return LogLine.json(fields)
  }

  private static func text(of value: Logger.MetadataValue) -> String {
    if case .string(let text) = value { text } else { "\(value)" }
  }
}

/// The least severe level that is logged. All loggers share it, so that it can change while the program runs.
final class CommonLogLevel: Sendable {
  private let level: Lock<Logger.Level>

  init(_ level: Logger.Level) { self.level = Lock(level) }

  var value: Logger.Level {
    get { level.withLock { $0 } }
    set { level.withLock { $0 = newValue } }
  }
}

/// Formats a log event as one line.
enum LogLine {
  /// Encodes a JSON object of strings with sorted keys (RFC 8259 §7). Every request is logged with such a line, and
  /// `JSONEncoder` takes longer for it than the server for the request.
  static func json(_ values: [String: String]) -> String { json(values.map { $0 }) }

  /// Encodes a JSON object of strings with sorted keys, which must be unique.
  static func json(_ values: consuming [(key: String, value: String)]) -> String {
    values.sort { $0.key < $1.key }
    var line: [UInt8] = []
    line.reserveCapacity(512)
    line.append(UInt8(ascii: "{"))
    for (key, value) in values {
      if line.count > 1 { line.append(UInt8(ascii: ",")) }
      JSONString.append(key, to: &line)
      line.append(UInt8(ascii: ":"))
      JSONString.append(value, to: &line)
    }
    line.append(UInt8(ascii: "}"))
    return String(decoding: line, as: UTF8.self)
  }
}

/// Formats times for the log: RFC 3339, UTC, with milliseconds.
enum LogTime {
  static func text(of date: Date) -> String {
    UTCTime(secondsSince1970: date.timeIntervalSince1970).description
  }
}
