import Foundation

/// The record of a bundle, as a template for others.
struct RecordTemplate: Sendable {
  private struct Line: Sendable {
    var text: String
    /// The key whose value differs in each record, if the line has one.
    var key: String?
  }

  private static let keys = ["\"id\"", "\"report\"", "\"receivedAt\""]
  private static let words = """
    the balance was negative after a refund screen stayed white when offline crash on start list empty login failed \
    twice picture upside down wrong currency price missing total rounding slow scroll keyboard covers button
    """.split(separator: " ").map(String.init)

  private let lines: [Line]

  /// Reads the record that a server has written.
  init(file path: String) throws {
    // A record without its digest is accepted like those that were written by hand.
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").filter {
      !$0.contains("\"checksum\"")
    }
    self.lines = lines.map { line in
      guard line.hasPrefix("  \""), let key = Self.keys.first(where: line.dropFirst(2).hasPrefix) else {
        return Line(text: "\(line)\n")
      }
      return Line(text: "  \(key) : @\(line.hasSuffix(",") ? "," : "")\n", key: key)
    }
    guard self.lines.count(where: { $0.key != nil }) == Self.keys.count else {
      throw Failure("the record has another form")
    }
  }

  /// Returns the record of the bundle with this number: three for each report, one every 8 seconds.
  func record(_ number: Int, id: String) -> String {
    let report = "\(Self.words[number % Self.words.count])-\(number / 3)"
    let time = Date(timeIntervalSince1970: 1_750_000_000 + Double(number) * 8)
      .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    return lines.reduce(into: "") { text, line in
      let value = line.key == Self.keys[0] ? id : line.key == Self.keys[1] ? report : time
      text += line.key == nil ? line.text : line.text.replacing("@", with: "\"\(value)\"")
    }
  }
}
