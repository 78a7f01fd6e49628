import Foundation
import SnapshotFormat
import SystemIO

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The output of a command: results go to stdout, everything else to stderr.
enum Console {
  static let inputIsTerminal = isatty(STDIN_FILENO) == 1
  static let outputIsTerminal = isatty(STDOUT_FILENO) == 1
  /// Whether writing a result failed, because stdout is closed or its disk is full.
  static let lostOutput = Lock(false)
  static let errorIsTerminal = isatty(STDERR_FILENO) == 1

  /// Writes a line of the result.
  static func print(_ line: String) {
    if !write(line + "\n", to: .standardOutput) { lostOutput.set(true) }
  }

  /// Writes bytes of the result. Returns whether they could be written.
  @discardableResult static func print(bytes: [UInt8]) -> Bool {
    do {
      try FileHandle.standardOutput.write(contentsOf: Data(bytes))
      return true
    } catch {
      lostOutput.set(true)
      return false
    }
  }

  /// Writes a line that is not part of the result.
  static func message(_ line: String) { _ = write(line + "\n", to: .standardError) }

  /// Writes an error message as one line. The message can contain text from other parties, so it is escaped.
  static func error(_ message: String) { Self.message("Error: \(escaped(message))") }

  /// Writes text without a line break, to show progress on a terminal.
  static func progress(_ text: String) { _ = write(text, to: .standardError) }

  /// Returns `text` in bold, unless stdout is not a terminal or `NO_COLOR` is set.
  static func bold(_ text: String) -> String {
    let plain = !outputIsTerminal || ProcessInfo.processInfo.environment["NO_COLOR"]?.isEmpty == false
    return plain ? text : "\u{1B}[1m\(text)\u{1B}[0m"
  }

  /// Formats a number of bytes: `1.4 MB`.
  static func size(_ bytes: Int64) -> String {
    var (value, units) = (Double(bytes), ["kB", "MB", "GB", "TB"][...])
    guard bytes >= 1000 else { return "\(bytes) B" }
    value /= 1000
    while value >= 999.95, units.count > 1 {
      value /= 1000
      units.removeFirst()
    }
    return "\((value * 10).rounded() / 10) \(units.first ?? "")"
  }

  /// Returns a number with its noun: `1 recording`, `2 recordings`.
  static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

  /// Returns `text` with control, format and line separator characters escaped, so that it cannot control a terminal or
  /// begin a new line.
  static func escaped(_ text: String) -> String {
    guard !text.unicodeScalars.allSatisfy(isPlain) else { return text }
    return text.unicodeScalars.map { isPlain($0) ? String($0) : $0.escaped(asASCII: true) }.joined()
  }

  /// Returns the JSON document `json` with the same characters escaped in its strings. Outside of them it is ASCII.
  static func escapedJSON(_ json: String) -> String {
    func isPlain(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x7F || Self.isPlain(scalar) }
    guard !json.unicodeScalars.allSatisfy(isPlain) else { return json }
    return json.unicodeScalars.map { scalar in
      guard !isPlain(scalar) else { return String(scalar) }
      return scalar.utf16.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }.joined()
    }.joined()
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    ![.control, .lineSeparator, .paragraphSeparator, .format].contains(scalar.properties.generalCategory)
  }

  /// Writes `text`, and returns whether all of it was written.
  private static func write(_ text: String, to handle: FileHandle) -> Bool {
    do {
      try handle.write(contentsOf: Data(text.utf8))
      return true
    } catch {
      return false
    }
  }
}

extension Console {
  /// A colour of the terminal's palette, so that it is readable on light and dark backgrounds.
  enum Color: Int {
    case red = 31
    case green = 32
    case yellow = 33
  }

  /// Returns `text` in `color`, unless stdout is not a terminal or `NO_COLOR` is set.
  static func colored(_ text: String, _ color: Color) -> String {
    isPlain ? text : "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m"
  }

  /// Whether results are written without colours.
  static var isPlain: Bool {
    !outputIsTerminal || ProcessInfo.processInfo.environment["NO_COLOR"]?.isEmpty == false
  }
}

extension Console {
  /// Writes results as JSON. An empty list is one line; Foundation would write three.
  static func print(json values: [some Encodable]) {
    if values.isEmpty { print("[]") } else { printPretty(values) }
  }

  /// Writes a result as JSON. Its strings can contain text from other parties, so what could control a terminal is
  /// escaped.
  static func print(json value: some Encodable) { printPretty(value) }

  private static func printPretty(_ value: some Encodable) {
    do {
      print(escapedJSON(String(decoding: try SnapshotJSON.encode(value, pretty: true), as: UTF8.self)))
    } catch {
      lostOutput.set(true)
    }
  }
}
