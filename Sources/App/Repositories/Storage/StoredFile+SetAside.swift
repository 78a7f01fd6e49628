import Foundation
import SystemIO

/// Files that can't be read now get another name, and are not destroyed:
///
///     trips.json.version-4          of schema 4, for an app that knows it
///     trips.json.corrupt-1          makes no sense
///     trips.json.corrupt-1.reason   why
extension StoredFile {
  private var folder: String { Folder.parent(of: path) }
  private var prefix: String { (path.split(separator: "/").last.map(String.init) ?? path) + "." }

  /// What stands beside the file: the names without the part that is the file's own name.
  private var suffixes: [String] {
    do {
      return try Folder.entries(folder).filter { $0.hasPrefix(prefix) }.map {
        String($0.dropFirst(prefix.count))
      }
    } catch {
      // No folder, no files; and where it can't be listed, they stay where they are.
      return []
    }
  }

  var setAside: [URL] {
    suffixes.filter { $0.hasPrefix("version-") || $0.hasPrefix("corrupt-") }
      .map { URL(filePath: path + "." + $0) }
  }

  /// The schemas of which a file is set aside.
  var setAsideVersions: [Int] {
    suffixes.compactMap { suffix in
      guard suffix.hasPrefix("version-"), let version = Int(suffix.dropFirst("version-".count)),
        suffix == "version-\(version)", Folder.isRegularFile("\(path).\(suffix)")
      else { return nil }
      return version
    }
  }

  /// Moves the file out of the way. Where a file of that schema is aside already, the one moved now is the newer of
  /// the two, and the other one is kept as corrupt files are.
  func setAside(_ version: Int, _ reason: String) throws(RepositoryError) {
    let aside = "\(path).version-\(version)"
    if try exists(aside) { try keep(aside, "another file of schema \(version) took its name") }
    try move(path, to: aside)
    onEvent(RepositoryEvent(.setAside, aside, reason))
  }

  /// Puts a file that was set aside in its place again; the place must be empty.
  func comeBack(_ version: Int) throws(RepositoryError) {
    let aside = "\(path).version-\(version)"
    try move(aside, to: path)
    onEvent(RepositoryEvent(.cameBack, path, "this app knows its schema \(version)"))
  }

  func setAsideCorrupt(_ reason: String) throws(RepositoryError) { try keep(path, reason) }

  private func keep(_ file: String, _ reason: String) throws(RepositoryError) {
    var number = 1
    while number < FileLimits.corruptFiles, try exists("\(path).corrupt-\(number)") { number += 1 }
    let aside = "\(path).corrupt-\(number)"
    try move(file, to: aside)
    // On a full disk the event alone has to do.
    do { try DurableFile.replace(aside + ".reason", with: Array((reason + "\n").utf8)) } catch {}
    onEvent(RepositoryEvent(.corrupt, aside, reason))
  }

  /// Where the disk can't tell, nothing is written over.
  private func exists(_ name: String) throws(RepositoryError) -> Bool {
    do { return try Folder.exists(name) } catch {
      throw RepositoryError(.unreadable, "a file can't be set aside: \(error)")
    }
  }

  /// If a file can't be moved out of the way it must not be written over: the repository can't begin.
  private func move(_ file: String, to name: String) throws(RepositoryError) {
    do {
      try Folder.replace(name, with: file)
      try Folder.synchronize(folder)
    } catch {
      throw RepositoryError(.unreadable, "a file can't be set aside: \(error)")
    }
  }

  /// Removes what a crash left of a file on its way.
  func removeStaged() {
    for suffix in suffixes where suffix.hasSuffix(".staged") {
      // The next launch tries again.
      do { try Folder.removeIfPresent(path + "." + suffix) } catch {}
    }
  }
}
