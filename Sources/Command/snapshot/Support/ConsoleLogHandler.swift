import Foundation
import Logging

/// Writes log events to stderr: a JSON object a line for machines, a plain line for people at a terminal.
///
/// Whoever logs only hands the event over: a reader of stderr that is slow, or has stopped reading, never holds
/// up an event loop. Control characters of what is logged never reach a terminal or begin a line of their own.
struct ConsoleLogHandler: LogHandler {
  enum Style: Sendable { case json, plain }

  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?
  private let label: String
  private let style: Style
  private let queue: LogQueue

  init(label: String, level: Logger.Level, style: Style, queue: LogQueue) {
    self.label = label
    self.style = style
    self.queue = queue
    logLevel = level
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
    let own = [
      (key: "time", value: LogTime.text(of: time)), (key: "level", value: level.rawValue),
      (key: "logger", value: label), (key: "message", value: "\(message)"),
    ]
    let others = values.lazy.filter { value in !own.contains { $0.key == value.key } }
      .map { (key: $0.key, value: text(of: $0.value)) }
    return LogLine.json(own + others)
  }

  private static func text(of value: Logger.MetadataValue) -> String {
    if case .string(let text) = value { text } else { "\(value)" }
  }
}
