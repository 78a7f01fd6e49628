import Foundation

/// Checks that an article shows exactly the lines that a test compiles and runs.
public enum DocumentedExample {
  /// An article and the code differ.
  public struct Mismatch: Error, CustomStringConvertible {
    /// The difference, and the lines that the article should show.
    public let description: String
  }

  /// Throws unless the lines of `code` between `// example: MARKER begin` and `// example: MARKER end`, without their
  /// indentation, are a `swift` block in `article`.
  /// - Parameters:
  ///   - article: a path relative to the package, such as `README.md`.
  ///   - code: the file with the lines: `#filePath`.
  ///   - marker: the name of the example.
  public static func check(article: String, code: String, marker: String) throws {
    let lines = try example(marker, in: URL(filePath: code))
    let text = try String(
      contentsOf: PackageFolder.url(above: code).appending(path: article), encoding: .utf8)
    guard text.contains("```swift\n" + lines + "```\n") else {
      throw Mismatch(description: "\(article) does not show the example ‘\(marker)’:\n\n\(lines)")
    }
  }

  /// The lines between the two comments, without the indentation of the first comment.
  private static func example(_ marker: String, in file: URL) throws -> String {
    let lines = try String(contentsOf: file, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
    let isMark = { (line: Substring, edge: String) in
      line.drop { $0 == " " } == "// example: \(marker) \(edge)"
    }
    guard let begin = lines.firstIndex(where: { isMark($0, "begin") }),
      let end = lines[begin...].firstIndex(where: { isMark($0, "end") }), end > begin + 1
    else { throw Mismatch(description: "\(file.path) has no example ‘\(marker)’") }
    let indentation = lines[begin].prefix { $0 == " " }
    return lines[(begin + 1)..<end]
      .map { ($0.hasPrefix(indentation) ? $0.dropFirst(indentation.count) : $0) + "\n" }.joined()
  }
}
