import SystemIO

/// What is below a folder.
struct FolderTree {
  /// The regular files, named from the top down, parts separated by `/`, sorted by their bytes.
  let files: [String]
  /// The folders that hold nothing, in the same way, each with a `/` at its end.
  let emptyFolders: [String]

  /// Walks down from `root`. Finder's notes are passed over; a link or a device is refused as
  /// ``BundleError/unexpectedEntry(_:)``.
  init(_ root: String) throws(BundleError) {
    var files: [String] = []
    var emptyFolders: [String] = []
    var folders = [""]
    while let folder = folders.popLast() {
      let names = try BundleError.disk(Folder.entries(root + "/" + folder)).filter {
        $0 != BundleLayout.finderFile
      }
      if names.isEmpty, !folder.isEmpty { emptyFolders.append(folder) }
      for name in names {
        let member = folder + name
        if Folder.isFolder(root + "/" + member) {
          folders.append(member + "/")
        } else if Folder.isRegularFile(root + "/" + member) {
          files.append(member)
        } else {
          throw .unexpectedEntry(member)
        }
      }
    }
    self.files = files.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    self.emptyFolders = emptyFolders.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
