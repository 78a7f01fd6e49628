import Foundation
import SystemIO

/// Files that can't be used are renamed, not deleted:
///
///     trips.json.version-4          a file of schema 4, for an app that supports it, or that decided against it
///     trips.json.undecoded-1        a file that this app can't decode, for a version of the app that can
///     trips.json.corrupt-1          a corrupt file
///     trips.json.corrupt-1.reason   the reason why it counts as corrupt; also of a file that can't be decoded
extension StoredFile {
  private var folder: String { Folder.parent(of: path) }
  private var prefix: String { (path.split(separator: "/").last.map(String.init) ?? path) + "." }

  /// The suffixes of related files: the names in the folder without this file's name and the dot.
  private var suffixes: [String] {
    do {
      return try Folder.entries(folder).filter { $0.hasPrefix(prefix) }.map {
        String($0.dropFirst(prefix.count))
      }
    } catch {
      // A missing folder contains no files. If the folder can't be listed, its files are left alone.
      return []
    }
  }

  var setAside: [URL] {
    suffixes.filter { suffix in ["version-", "undecoded-", "corrupt-"].contains { suffix.hasPrefix($0) } }
      .map { URL(filePath: path + "." + $0) }
  }

  /// The schema versions of the files that were set aside.
  var setAsideVersions: [Int] { numbers(of: "version") }

  /// The numbers of the files that could not be decoded.
  var undecodedNumbers: [Int] { numbers(of: "undecoded") }

  private func numbers(of kind: String) -> [Int] {
    suffixes.compactMap { suffix in
      guard suffix.hasPrefix(kind + "-"), let number = Int(suffix.dropFirst(kind.count + 1)),
        suffix == "\(kind)-\(number)", Folder.isRegularFile("\(path).\(suffix)")
      else { return nil }
      return number
    }
  }

  /// The name of a file of another version that was set aside.
  func aside(_ version: Int) -> String { "\(path).version-\(version)" }

  /// Renames the file to `….version-N`. If that name exists, the existing file is older; it is kept as a corrupt file.
  func setAside(_ version: Int, _ reason: String) throws(RepositoryError) {
    let aside = aside(version)
    if try exists(aside) {
      try keep(aside, as: .corrupt, "a newer file of schema \(version) replaced it")
    }
    try move(path, to: aside)
    onEvent(RepositoryEvent(.setAside, aside, reason))
  }

  /// Moves a file that was set aside back to its original path, which must be free.
  func comeBack(_ version: Int) throws(RepositoryError) {
    try move(aside(version), to: path)
    onEvent(RepositoryEvent(.cameBack, path, "this app supports its schema \(version)"))
  }

  /// Moves a file that can be decoded again back to its original path, which must be free.
  func comeBackDecoded(_ number: Int) throws(RepositoryError) {
    let aside = "\(path).undecoded-\(number)"
    try move(aside, to: path)
    // If it can't be removed, it is a file too many.
    do { try Folder.removeIfPresent(aside + ".reason") } catch {}
    onEvent(RepositoryEvent(.cameBack, path, "this app can decode it"))
  }

  func setAsideCorrupt(_ file: String, _ reason: String) throws(RepositoryError) {
    try keep(file, as: .corrupt, reason)
  }

  func setAsideUndecoded(_ file: String, _ reason: String) throws(RepositoryError) {
    try keep(file, as: .undecoded, reason)
  }

  private func keep(
    _ file: String, as kind: RepositoryEvent.Kind, _ reason: String
  ) throws(RepositoryError) {
    var number = 1
    while number < FileLimits.corruptFiles, try exists("\(path).\(kind)-\(number)") { number += 1 }
    let aside = "\(path).\(kind)-\(number)"
    try move(file, to: aside)
    // If the disk is full, only the event contains the reason.
    do { try DurableFile.replace(aside + ".reason", with: Array((reason + "\n").utf8)) } catch {}
    onEvent(RepositoryEvent(kind, aside, reason))
  }

  /// When a file was written. Renaming does not change it.
  func timeOfWriting(_ file: String) throws(RepositoryError) -> Date {
    do {
      return Date(timeIntervalSince1970: Double(try File(file).modifiedNanoseconds) / 1e9)
    } catch {
      throw RepositoryError(.unreadable, "\(error)")
    }
  }

  /// Throws if the disk can't be read, so that no file is overwritten.
  func exists(_ name: String) throws(RepositoryError) -> Bool {
    do { return try Folder.exists(name) } catch {
      throw RepositoryError(.unreadable, "a file can't be set aside: \(error)")
    }
  }

  /// Throws if a file can't be renamed: it must not be overwritten, and the repository can't start.
  private func move(_ file: String, to name: String) throws(RepositoryError) {
    do {
      try Folder.replace(name, with: file)
      try Folder.synchronize(folder)
    } catch {
      throw RepositoryError(.unreadable, "a file can't be set aside: \(error)")
    }
  }

  /// Removes temporary files that a crash left behind. Another repository of this process may just be writing its own.
  func removeStaged() {
    let own = "\(ProcessInfo.processInfo.processIdentifier)-"
    for suffix in suffixes where suffix.hasSuffix(".staged") && !suffix.hasPrefix(own) {
      // The next launch tries again.
      do { try Folder.removeIfPresent(path + "." + suffix) } catch {}
    }
  }
}
