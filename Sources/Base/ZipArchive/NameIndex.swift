/// The names of an archive as a tree of folders. It detects names that would refer to the same file after unpacking.
///
/// Two names conflict if they differ only in letter case, in Unicode normalization, or in the kind of slashes, because
/// some file systems do not distinguish these. Empty files with different names may conflict, because nothing is lost
/// if one replaces the other. ``ZipProfile/strict`` allows no conflicts and detects more of them. The index takes
/// 10 to 20 bytes for each folder and each file, twice that for an empty file, independently of the length of names.
struct NameIndex {
  private enum Kind: UInt8 {
    case impliedFolder, folder, file, emptyFile
  }

  /// The hash of the root folder.
  private static let root = 0

  /// The kind of each file and folder. Its key is a hash of the parent folder's hash and the folded name.
  private var kinds = HashTable()
  private var folders = 0
  private let mostFolders: Int
  private let profile: ZipProfile

  /// - Parameter mostFolders: The maximum number of folders, counting both entries and folders that occur only
  ///   in the names of entries.
  init(mostFolders: Int, profile: ZipProfile = .lenient) {
    self.mostFolders = mostFolders
    self.profile = profile
  }

  /// The reason why an entry with this name and size cannot be inserted; `nil` if it can.
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
        // This component and all following ones are new.
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

  /// Inserts the name of an entry. ``conflict(with:size:)`` must have returned `nil` for it.
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

  /// The key of the file or folder `part` in `folder`. Canonically equivalent strings have the same hash.
  private func place(of part: Substring, in folder: Int) -> Int {
    var hasher = Hasher()
    hasher.combine(folder)
    hasher.combine(profile == .strict ? Self.strictFold(part) : Self.fold(part))
    return hasher.finalize()
  }

  /// The key that records the exact name of an empty file.
  private static func emptyFile(_ name: String) -> Int { name.hashValue }

  /// Full case folding. It applies both mappings in turn, because neither alone unifies all letters (ß and ẞ, σ and ς).
  /// The dotless i is not changed, as in Unicode's case folding table.
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
