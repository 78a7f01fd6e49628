import Foundation
import SystemIO
import TestSupport
import Testing
import ZipArchive

/// Valid and invalid archives from other projects, each with its expected result.
enum Corpus {
  /// The path in `ZIP_CORPUS`, or the folder next to the package.
  static let folder: URL = {
    if let path = ProcessInfo.processInfo.environment["ZIP_CORPUS"] { return URL(filePath: path) }
    return PackageFolder.url().deletingLastPathComponent().appending(path: "shared/zip-corpus")
  }()

  static let manifest = folder.appending(path: "manifest.tsv")
  static let isPresent = FileManager.default.fileExists(atPath: manifest.path)

  /// Labelled as listable although it has no directory: random bytes follow the only local header. The test in the
  /// original project expects an error on opening as well.
  static let withoutDirectory: Set<String> = ["zip-rs/deflate64_issue_25.zip"]

  struct Row: Sendable {
    let path: String
    let expected: String
  }

  static func rows() throws -> [Row] {
    try String(contentsOf: manifest, encoding: .utf8).split(separator: "\n").dropFirst().map { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
      return Row(path: String(fields[0]), expected: String(fields[5]))
    }
  }
}

@Suite struct CorpusTests {
  @Test(
    .enabled(
      if: Corpus.isPresent, "the corpus of other projects' archives isn't beside the package; set ZIP_CORPUS")
  )
  func `every archive of the corpus is read or rejected according to its label`() throws {
    var counts: [String: (right: Int, all: Int)] = [:]
    for row in try Corpus.rows() {
      var opened = false
      var failures: [ZipError] = []
      do {
        let reader = try ZipReader(File(Corpus.folder.appending(path: row.path).path))
        opened = true
        for entry in reader.entries {
          do { try reader.read(entry) { _ in } } catch let error as ZipError { failures.append(error) }
        }
      } catch let error as ZipError {
        failures.append(error)
      }
      let isRight =
        switch row.expected {
        case "extract_ok": opened && failures.isEmpty
        case "must_reject": !failures.isEmpty
        case "list_only": opened && !failures.isEmpty || Corpus.withoutDirectory.contains(row.path)
        case "policy": true
        default: false
        }
      #expect(isRight, "\(row.path) (\(row.expected)): \(failures.first?.description ?? "nothing refused")")
      counts[row.expected, default: (0, 0)].all += 1
      if isRight { counts[row.expected, default: (0, 0)].right += 1 }
    }
    for (expected, count) in counts.sorted(by: { $0.key < $1.key }) {
      print("\(expected): \(count.right) of \(count.all)")
    }
  }
}
