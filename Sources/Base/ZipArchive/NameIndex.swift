/// The names of an archive as a tree of folders, to find those that would meet in one place when unpacked.
///
/// Names meet where they differ only in case, in the composition of characters, or in the kind of their slashes:
/// file systems differ in what they tell apart. Files without contents may meet, as long as their names do differ:
/// whichever is left, nothing is lost or hidden. ``ZipProfile/strict`` lets none meet, and has more names meet. Takes some ten bytes of memory for each file and each folder, however
/// long their names are.
struct NameIndex {
  private enum Kind: UInt8 {
    case impliedFolder, folder, file, emptyFile
  }

  /// The hash that stands for the folder of all others.
  private static let root = 0

  /// What is where: the hash of a place is that of its folder and its own folded name.
  private var kinds = HashTable()
  private var folders = 0
  private let mostFolders: Int
  private let profile: ZipProfile

  /// - Parameter mostFolders: How many folders there may be, whether they are entries or stand in names alone.
  init(mostFolders: Int, profile: ZipProfile = .lenient) {
    self.mostFolders = mostFolders
    self.profile = profile
  }

  /// What keeps the name of an entry of that size from being inserted, if anything does.
  func conflict(with name: String, size: UInt64) -> ZipError.Reason? {
    let isFolder = name.utf8.last == UInt8(ascii: "/")
    if !isFolder, size == 0, kinds.mark(of: Self.emptyFile(name)) != nil { return .duplicateName }
    var place = Self.root
    var kind = Kind.impliedFolder
    let parts = EntryName.parts(of: name)
    for (index, part) in parts.enumerated() {
      if kind == .file || kind == .emptyFile { return .fileAndFolder }
      place = self.place(of: part, in: place)
      guard let known = self.kind(at: place) else {
        // This part is new, and so are those behind it.
        let added = parts.count - index - (isFolder ? 0 : 1)
        return folders + added > mostFolders ? .limit(.folders) : nil
      }
      kind = known
    }
    switch (kind, isFolder) {
    case (.impliedFolder, true): return nil
    case (.emptyFile, false): return size == 0 && profile == .lenient ? nil : .duplicateName
    case (.folder, true), (.file, false): return .duplicateName
    case (_, true), (_, false): return .fileAndFolder
    }
  }

  /// Adds the name of an entry of that size, with which nothing may be in ``conflict(with:size:)``.
  mutating func insert(_ name: String, size: UInt64) {
    let isFolder = name.utf8.last == UInt8(ascii: "/")
    let parts = EntryName.parts(of: name)
    var place = Self.root
    for part in parts.dropLast() {
      place = self.place(of: part, in: place)
      if kind(at: place) == nil { add(.impliedFolder, at: place) }
    }
    place = self.place(of: parts[parts.count - 1], in: place)
    add(isFolder ? .folder : size == 0 ? .emptyFile : .file, at: place)
    if !isFolder, size == 0 { kinds.mark(Self.emptyFile(name)) }
  }

  private mutating func add(_ kind: Kind, at place: Int) {
    let isNew = kinds.mark(place, as: kind.rawValue)
    if isNew, kind == .impliedFolder || kind == .folder { folders += 1 }
  }

  private func kind(at place: Int) -> Kind? { kinds.mark(of: place).flatMap(Kind.init) }

  /// Strings hash alike where they are canonically equivalent.
  private func place(of part: Substring, in folder: Int) -> Int {
    var hasher = Hasher()
    hasher.combine(folder)
    hasher.combine(profile == .strict ? Self.strictFold(part) : Self.fold(part))
    return hasher.finalize()
  }

  /// What stands for the name itself of a file without contents.
  private static func emptyFile(_ name: String) -> Int { name.hashValue }

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
