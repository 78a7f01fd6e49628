import Foundation

/// The targets that earlier runs met, in a text file with a line for each. A run that misses one of them fails.
struct MetTargets {
  private let path: String
  private var lines: Set<String>

  /// Reads the file, if it exists.
  init(path: String) throws {
    self.path = path
    let text =
      FileManager.default.fileExists(atPath: path) ? try String(contentsOfFile: path, encoding: .utf8) : ""
    lines = Set(text.split(separator: "\n").map(String.init))
  }

  /// The targets that were met before, and are missed by more than noise in this report.
  func missed(in report: Report) -> [String] {
    Self.judgements(report) { row, target in row.isMissedInEveryRound(target) }.filter(lines.contains)
  }

  /// Adds the targets that this report meets, and writes the file.
  mutating func add(_ report: Report) throws {
    lines.formUnion(Self.judgements(report) { row, target in row.isMet(target) == true })
    try Data(lines.sorted().map { "\($0)\n" }.joined().utf8).write(to: URL(filePath: path), options: .atomic)
  }

  private static func judgements(_ report: Report, where condition: (Row, Target) -> Bool) -> [String] {
    report.rows.flatMap { row in
      row.targets.filter { condition(row, $0) }.map { target in
        let other = target.peer.map { " : \($0.rawValue)" } ?? ""
        return "\(row.work), \(row.metric.rawValue)\(other) \(row.metric.sign) \(target.bound)"
      }
    }
  }
}
