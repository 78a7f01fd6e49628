import SystemIO

/// Finds the files and folders that match patterns. It follows no links below its root.
struct FileSearch {
  let root: String
  /// The files and pipes found: path to length in bytes.
  private(set) var files: [String: Int64] = [:]
  /// The folders that patterns match, and all their subfolders.
  private(set) var folders: Set<String> = []
  /// The paths that can't be read, with the reasons.
  private(set) var failures: [String: String] = [:]

  init(root: String) { self.root = root }

  /// Adds the matches of `components` below `path`, which is relative to the root.
  mutating func expand(_ components: ArraySlice<String>, isFolder: Bool, below path: String) {
    guard let component = components.first else { return }
    let rest = components.dropFirst()
    for name in entries(path) where FilePattern.matches(name, component) {
      let child = path.isEmpty ? name : "\(path)/\(name)"
      if !rest.isEmpty {
        if Folder.isFolder(absolute(child)) { expand(rest, isFolder: isFolder, below: child) }
      } else if isFolder {
        if Folder.isFolder(absolute(child)) { takeFolder(child) }
      } else {
        takeFile(child)
      }
    }
  }

  private mutating func takeFolder(_ path: String) {
    folders.insert(path)
    for name in entries(path) {
      let child = "\(path)/\(name)"
      if Folder.isFolder(absolute(child)) { takeFolder(child) } else { takeFile(child) }
    }
  }

  private mutating func takeFile(_ path: String) {
    do {
      switch try Folder.kind(of: absolute(path)) {
      case .file: files[path] = try Folder.size(of: absolute(path))
      // A pipe, as databases use to notify processes.
      case .other: files[path] = 0
      case .folder, .link, nil: break
      }
    } catch {
      failures[path] = "\(error)"
    }
  }

  private mutating func entries(_ path: String) -> [String] {
    do {
      return try Folder.entries(absolute(path))
    } catch  where error.isNotFound {
      return []
    } catch {
      failures[path.isEmpty ? "." : path] = "\(error)"
      return []
    }
  }

  private func absolute(_ path: String) -> String { path.isEmpty ? root : "\(root)/\(path)" }
}

/// A path pattern relative to a folder, in the syntax of ``FormerDatabaseCleaner``.
struct FilePattern: Sendable, Hashable {
  let components: [String]
  /// Whether the pattern matches a folder with all its contents.
  let isFolder: Bool

  init(_ text: String) throws(FormerDatabaseCleaner.PatternError) {
    func refuse(_ reason: String) -> FormerDatabaseCleaner.PatternError {
      .init(pattern: text, reason: reason)
    }
    guard !text.isEmpty else { throw refuse("it is empty") }
    guard !text.hasPrefix("/") else { throw refuse("it is not relative") }
    isFolder = text.hasSuffix("/")
    components = (isFolder ? text.dropLast() : text[...])
      .split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard !components.contains("") else { throw refuse("a name is empty") }
    guard !components.contains(where: { $0 == "." || $0 == ".." }) else {
      throw refuse("it contains ‘.’ or ‘..’")
    }
    guard let last = components.last, last.contains(where: { $0 != "*" && $0 != "?" }) else {
      throw refuse("its last name consists of wildcards only")
    }
  }

  /// Whether `name` matches `component`: `*` matches any characters, `?` matches one. A leading dot must be matched by
  /// a literal dot.
  static func matches(_ name: String, _ component: String) -> Bool {
    if name.hasPrefix("."), !component.hasPrefix(".") { return false }
    let (name, pattern) = (Array(name), Array(component))
    // After a mismatch, the last `*` is extended by one character.
    var (at, place, star, resume) = (0, 0, -1, 0)
    while at < name.count {
      if place < pattern.count, pattern[place] == "*" {
        (star, resume) = (place, at)
        place += 1
      } else if place < pattern.count, pattern[place] == "?" || pattern[place] == name[at] {
        at += 1
        place += 1
      } else if star >= 0 {
        resume += 1
        (at, place) = (resume, star + 1)
      } else {
        return false
      }
    }
    return pattern[place...].allSatisfy { $0 == "*" }
  }
}
