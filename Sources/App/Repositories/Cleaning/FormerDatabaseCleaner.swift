public import Foundation
import SystemIO

/// Removes the files of a database that an app used in earlier versions.
///
///     let cleaner = try FormerDatabaseCleaner(
///       folder: .applicationSupportDirectory, patterns: FormerDatabaseCleaner.coreData("Model"))
///     print(cleaner.clean())
///
/// **Guarantees:** the cleaner removes only files and pipes below the folder whose paths match a pattern, and the empty
/// folders that a pattern names. It neither follows nor removes links. If an item can't be removed, the cleaner reports
/// it and continues. It is safe to run the cleaner again.
public struct FormerDatabaseCleaner: Sendable {
  /// The error for an invalid pattern.
  public struct PatternError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The pattern.
    public let pattern: String
    /// Why it is invalid.
    public let reason: String

    /// The pattern and the reason in one line.
    public var description: String { "the pattern ‘\(pattern)’ is invalid: \(reason)" }
  }

  /// A file that matches a pattern.
  public struct File: Sendable, Hashable {
    /// Its path relative to the folder.
    public let path: String
    /// Its length in bytes.
    public let bytes: Int64
  }

  /// The result of a run.
  public struct Report: Sendable, Hashable, CustomStringConvertible {
    /// The removed files, sorted by path.
    public internal(set) var removed: [File] = []
    /// The reasons why items were not removed, by path.
    public internal(set) var failures: [String: String] = [:]

    /// The total size of the removed files in bytes.
    public var bytes: Int64 { removed.reduce(0) { $0 + $1.bytes } }

    /// One line for each file.
    public var description: String {
      let lines = removed.map { "removed \($0.path): \($0.bytes) bytes" }
      let left = failures.sorted { $0.key < $1.key }.map { "left \($0.key): \($0.value)" }
      return (lines + left + ["\(bytes) bytes in total"]).joined(separator: "\n")
    }
  }

  private let folder: String
  private let patterns: [FilePattern]

  /// Creates a cleaner for one folder.
  /// - Parameters:
  ///   - folder: the folder that contained the database, such as Application Support.
  ///   - patterns: paths relative to the folder. `*` matches any characters of a name, `?` matches one; a leading dot
  ///     must be matched by a literal dot. A pattern that ends with `/` matches a folder with all its contents.
  /// - Throws: if a pattern is empty or absolute, contains `.` or `..`, or if its last name consists of wildcards only.
  public init(folder: URL, patterns: [String]) throws(PatternError) {
    self.folder = folder.path
    var parsed: [FilePattern] = []
    for pattern in patterns { parsed.append(try FilePattern(pattern)) }
    self.patterns = parsed
  }

  /// The files of an SQLite database: `name` and its journals. `name` includes the extension.
  public static func sqlite(_ name: String) -> [String] {
    [name] + ["-wal", "-shm", "-journal"].map { name + $0 }
  }

  /// The files of a Core Data or SwiftData store: `<name>.sqlite` or `<name>.store`, their journals, and the folder of
  /// external data.
  public static func coreData(_ name: String) -> [String] {
    sqlite("\(name).sqlite") + sqlite("\(name).store") + [".\(name)_SUPPORT/"]
  }

  /// The files of a Realm database: `<name>.realm`, its lock, its pipe for notifications (`note`), the commit logs of
  /// early versions (`log`, `log_a`, `log_b`), and `management`, which is a file or a folder.
  public static func realm(_ name: String = "default") -> [String] {
    let file = "\(name).realm"
    let auxiliary = ["lock", "note", "log", "log_a", "log_b", "management", "management/"]
    return [file] + auxiliary.map { "\(file).\($0)" }
  }

  /// Returns the files that ``clean()`` would remove, and removes nothing.
  public func find() -> [File] {
    var failures: [String: String] = [:]
    return matches(&failures).files
  }

  /// Removes the files and folders that match. A missing folder counts as empty.
  public func clean() -> Report {
    var report = Report()
    let (files, folders) = matches(&report.failures)
    for file in files {
      do {
        try Folder.remove(folder + "/" + file.path)
        report.removed.append(file)
      } catch  where error.isNotFound {
      } catch {
        report.failures[file.path] = "\(error)"
      }
    }
    // The deepest folders first, so that a folder is empty when it is removed.
    for path in folders.sorted(by: >) {
      do {
        try Folder.remove(folder + "/" + path)
      } catch  where error.isNotFound {
      } catch {
        report.failures[path] = "\(error)"
      }
    }
    return report
  }

  // MARK: -

  private func matches(_ failures: inout [String: String]) -> (files: [File], folders: Set<String>) {
    var search = FileSearch(root: folder)
    for pattern in patterns { search.expand(pattern.components[...], isFolder: pattern.isFolder, below: "") }
    failures = search.failures
    return (
      search.files.map { File(path: $0.key, bytes: $0.value) }.sorted { $0.path < $1.path }, search.folders
    )
  }
}
