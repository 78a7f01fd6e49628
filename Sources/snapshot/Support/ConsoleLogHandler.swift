import Foundation
import Logging

/// Writes log events to stderr: a JSON object a line for machines, a plain line for people at a terminal.
/// Control characters of what is logged never reach the terminal or start a line of their own.
struct ConsoleLogHandler: LogHandler {
  enum Style: Sendable { case json, plain }

  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?
  private let label: String
  private let style: Style

  init(label: String, level: Logger.Level, style: Style) {
    self.label = label
    self.style = style
    logLevel = level
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let values = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 }
    let time = Date.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    switch style {
    case .plain:
      let pairs = values.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
      Console.note(Self.escaped("\(time.dropFirst(11)) \(event.level) \(event.message)\(pairs)"))
    case .json:
      var line = ["time": time, "level": "\(event.level)", "logger": label, "message": "\(event.message)"]
      for (key, value) in values { line[key] = "\(value)" }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      do {
        Console.note(String(decoding: try encoder.encode(line), as: UTF8.self))
      } catch {
        Console.note(#"{"level":"error","message":"a log event could not be encoded"}"#)
      }
    }
  }

  private static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      return text
    }
    return text.unicodeScalars.map {
      $0.properties.generalCategory == .control ? $0.escaped(asASCII: true) : String($0)
    }.joined()
  }
}
