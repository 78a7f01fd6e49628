import SystemIO

/// The regular files below a folder.
enum FolderTree {
  /// Their names from `root` down, parts separated by `/`, sorted by their bytes. Empty folders and Finder's notes
  /// are passed over; a link or a device is refused as ``BundleError/unexpectedEntry(_:)``.
  static func files(in root: String) throws(BundleError) -> [String] {
    var files: [String] = []
    var folders = [""]
    while let folder = folders.popLast() {
      let names = try BundleError.disk(Folder.entries(root + "/" + folder))
      for name in names where name != BundleLayout.finderFile {
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
    return files.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
