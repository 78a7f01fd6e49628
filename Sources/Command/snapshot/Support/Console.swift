import Foundation
import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Where a command's words go: results to stdout, everything else to stderr.
enum Console {
  static let outputIsTerminal = isatty(STDOUT_FILENO) == 1
  /// Whether a result could not be written: stdout is closed, or its disk is full.
  static let lostOutput = Atomic(false)
  static let errorIsTerminal = isatty(STDERR_FILENO) == 1

  /// One line of the result.
  static func print(_ line: String) {
    if !write(line + "\n", to: .standardOutput) { lostOutput.store(true, ordering: .relaxed) }
  }

  /// One line beside the result.
  static func note(_ line: String) { _ = write(line + "\n", to: .standardError) }

  /// What went wrong, in one line, which may name what others sent.
  static func error(_ message: String) { note("Error: \(escaped(message))") }

  /// Text without a line's end, for progress on a terminal.
  static func progress(_ text: String) { _ = write(text, to: .standardError) }

  /// `text` emphasised, where stdout is a terminal and `NO_COLOR` is not set.
  static func bold(_ text: String) -> String {
    let plain = !outputIsTerminal || ProcessInfo.processInfo.environment["NO_COLOR"]?.isEmpty == false
    return plain ? text : "\u{1B}[1m\(text)\u{1B}[0m"
  }

  /// Bytes in a form that people read: `1.4 MB`.
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

  /// `text` without anything that could steer a terminal or pass for a line's end: control characters are spelled
  /// out.
  static func escaped(_ text: String) -> String {
    func isPlain(_ scalar: Unicode.Scalar) -> Bool {
      ![.control, .lineSeparator, .paragraphSeparator, .format].contains(scalar.properties.generalCategory)
    }
    guard !text.unicodeScalars.allSatisfy(isPlain) else { return text }
    return text.unicodeScalars.map { isPlain($0) ? String($0) : $0.escaped(asASCII: true) }.joined()
  }

  /// Answers whether all of `text` could be written.
  private static func write(_ text: String, to handle: FileHandle) -> Bool {
    do {
      try handle.write(contentsOf: Data(text.utf8))
      return true
    } catch {
      return false
    }
  }
}
