/// The names of an archive as a tree of folders, to find those that would meet in one place when unpacked.
///
/// Names meet where they differ only in case, in the composition of characters, or in the kind of their slashes:
/// file systems differ in what they tell apart. Files without contents may meet, as long as their names do differ:
/// whichever is left, nothing is lost or hidden. Takes memory in proportion to the length of the names.
struct NameIndex {
  private struct Key: Hashable {
    let folder: Int
    /// Folded; strings are equal and hash alike where they are canonically equivalent.
    let part: String
  }

  private enum Kind {
    case impliedFolder, folder, file, emptyFile
  }

  private var nodes: [Key: Int] = [:]
  private var kinds: [Kind] = [.impliedFolder]
  private var names: Set<String> = []

  /// What keeps the name of an entry of that size from being inserted, if anything does.
  func conflict(with name: String, size: UInt64) -> ZipError.Reason? {
    if names.contains(name) { return .duplicateName }
    let isFolder = name.utf8.last == UInt8(ascii: "/")
    var node: Int? = 0
    for part in EntryName.parts(of: name) {
      guard let folder = node else { break }
      if kinds[folder] == .file || kinds[folder] == .emptyFile { return .fileAndFolder }
      node = nodes[Key(folder: folder, part: Self.fold(part))]
    }
    guard let node else { return nil }
    switch (kinds[node], isFolder) {
    case (.impliedFolder, true): return nil
    case (.emptyFile, false): return size == 0 ? nil : .duplicateName
    case (.folder, true), (.file, false): return .duplicateName
    case (_, true), (_, false): return .fileAndFolder
    }
  }

  /// Adds the name of an entry of that size, with which nothing may be in ``conflict(with:size:)``.
  mutating func insert(_ name: String, size: UInt64) {
    var node = 0
    for part in EntryName.parts(of: name) {
      let key = Key(folder: node, part: Self.fold(part))
      if let known = nodes[key] {
        node = known
      } else {
        node = kinds.count
        kinds.append(.impliedFolder)
        nodes[key] = node
      }
    }
    let isFolder = name.utf8.last == UInt8(ascii: "/")
    kinds[node] = isFolder ? .folder : size == 0 ? .emptyFile : .file
    names.insert(name)
  }

  /// Full case folding: both mappings one after the other, since each of them alone leaves letters apart that
  /// share the other (ß and ẞ, σ and ς). The dotless i stays itself, as in Unicode's own table.
  static func fold(_ part: Substring) -> String {
    if part.utf8.allSatisfy({ $0 < 0x80 }) { return part.lowercased() }
    var folded = ""
    for scalar in part.unicodeScalars {
      if scalar == "ı" {
        folded.unicodeScalars.append(scalar)
      } else {
        folded += scalar.properties.lowercaseMapping.uppercased().lowercased()
      }
    }
    return folded
  }
}
