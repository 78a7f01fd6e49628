public import Foundation
import SystemIO

/// Removes the files of a database that an app used to have.
///
///     let cleaner = try FormerDatabaseCleaner(
///       folder: .applicationSupportDirectory, patterns: FormerDatabaseCleaner.coreData("Model"))
///     print(cleaner.clean())
///
/// **What holds:** only regular files below the folder whose paths match a pattern are removed, and the folders that a
/// pattern names once they are empty. No link is followed or removed. What can't be removed is reported and stops
/// nothing else. A further call finds nothing to do.
public struct FormerDatabaseCleaner: Sendable {
  /// A pattern that is refused.
  public struct PatternError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The pattern.
    public let pattern: String
    /// Why it is refused.
    public let reason: String

    /// One line.
    public var description: String { "the pattern ‘\(pattern)’ is refused: \(reason)" }
  }

  /// A file that matches.
  public struct File: Sendable, Hashable {
    /// Its path below the folder.
    public let path: String
    /// Its length in bytes.
    public let bytes: Int64
  }

  /// What was done.
  public struct Report: Sendable, Hashable, CustomStringConvertible {
    /// The files that were removed, by their paths.
    public internal(set) var removed: [File] = []
    /// What is still there, by path, and why.
    public internal(set) var failures: [String: String] = [:]

    /// How many bytes the removed files had.
    public var bytes: Int64 { removed.reduce(0) { $0 + $1.bytes } }

    /// A line for each file.
    public var description: String {
      let lines = removed.map { "removed \($0.path): \($0.bytes) bytes" }
      let left = failures.sorted { $0.key < $1.key }.map { "left \($0.key): \($0.value)" }
      return (lines + left + ["\(bytes) bytes in all"]).joined(separator: "\n")
    }
  }

  private let folder: String
  private let patterns: [FilePattern]

  /// A cleaner of one folder.
  /// - Parameters:
  ///   - folder: where the database was, such as Application Support.
  ///   - patterns: paths below the folder, in which `*` stands for any characters of a name and `?` for one; a dot in
  ///     front of a name has to be spelled out. A pattern that ends in `/` stands for a folder with all in it. A
  ///     pattern that is empty, absolute, has `.` or `..`, or whose last name has nothing but wildcards is refused.
  public init(folder: URL, patterns: [String]) throws(PatternError) {
    self.folder = folder.path
    var parsed: [FilePattern] = []
    for pattern in patterns { parsed.append(try FilePattern(pattern)) }
    self.patterns = parsed
  }

  /// The files of a SQLite database: `name`, and its journals. `name` includes the extension.
  public static func sqlite(_ name: String) -> [String] {
    [name] + ["-wal", "-shm", "-journal"].map { name + $0 }
  }

  /// The files of a Core Data or SwiftData store: those of `<name>.sqlite` or `<name>.store`, and the data beside it.
  public static func coreData(_ name: String) -> [String] {
    sqlite("\(name).sqlite") + sqlite("\(name).store") + [".\(name)_SUPPORT/"]
  }

  /// The files of a Realm: `<name>.realm`, and what stands beside it.
  public static func realm(_ name: String = "default") -> [String] {
    ["\(name).realm", "\(name).realm.lock", "\(name).realm.note", "\(name).realm.management/"]
  }

  /// What ``clean()`` would remove; nothing is.
  public func find() -> [File] {
    var failures: [String: String] = [:]
    return matches(&failures).files
  }

  /// Removes what matches. A folder that is not there holds nothing.
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
    // The deepest first.
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
