/// A pattern of paths below a folder, as ``FormerDatabaseCleaner`` takes them.
struct FilePattern: Sendable, Hashable {
  let components: [String]
  /// Whether it means a folder with all in it.
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
    guard !components.contains(where: { $0 == "." || $0 == ".." }) else { throw refuse("it has ‘.’ or ‘..’") }
    guard let last = components.last, last.contains(where: { $0 != "*" && $0 != "?" }) else {
      throw refuse("its last name has nothing but wildcards")
    }
  }

  /// Whether `name` is one that `component` means: `*` stands for any characters, `?` for one; a dot in front has to
  /// be spelled out.
  static func matches(_ name: String, _ component: String) -> Bool {
    if name.hasPrefix("."), !component.hasPrefix(".") { return false }
    let (name, pattern) = (Array(name), Array(component))
    // After a mismatch the last `*` takes one character more.
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
