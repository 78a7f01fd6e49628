import Foundation
import SystemIO

/// A folder that contains the files and the manifest of a snapshot.
struct FolderBundle {
  let manifest: Manifest
  /// The contents of `manifest.json`.
  let json: [UInt8]
  /// All files except the manifest, sorted by the bytes of their names.
  let members: [BundleMember]
  /// The empty folders of the app's container. Each name ends in `/`.
  let emptyFolders: [String]
  /// The paths of attachments and files of the app's container whose names a bundle can't contain.
  let leftOut: [String]

  /// Reads the manifest and checks the names and sizes of all files, but not their contents.
  init(_ url: URL) throws(BundleError) {
    let root = url.path + "/"
    let tree = try FolderTree(url.path)
    let names = tree.files
    let extras = Self.extras(of: tree)
    emptyFolders =
      tree.emptyFolders.filter { $0.path(below: BundleLayout.appData) != nil }
      .compactMap { name in extras.path(of: name).map { $0 + "/" } }.sortedByBytes
    leftOut = extras.leftOut
    guard names.contains(BundleLayout.manifest) else { throw .manifestMissing }
    let most = Manifest.Limits.default.size
    json = try BundleError.disk(File(root + BundleLayout.manifest).read(upTo: most + 1, at: 0))
    manifest = try Manifest(json: Data(json))
    if let sealed = manifest.sealed { throw .sealed(sealed) }

    let recordings = Dictionary(uniqueKeysWithValues: manifest.recordings.map { ($0.path, $0) })
    members = names.filter { $0 != BundleLayout.manifest }.compactMap { name in
      extras.path(of: name).map { path in
        BundleMember(
          name: path, source: root + name, recording: recordings[path],
          isExecutable: path.hasPrefix(BundleLayout.appData) && Folder.isExecutableFile(root + name))
      }
    }.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    var files: [(name: String, size: Int64)] = []
    for member in members {
      files.append((member.name, try BundleError.disk(File(member.source).size)))
    }
    try BundleLayout.check(files, against: manifest)
  }

  /// The paths in a bundle of attachments and of the app's container.
  private struct Extras {
    var paths: [(place: String, paths: PortablePaths)] = []
    var leftOut: [String] { paths.flatMap { place, paths in paths.leftOut.map { place + $0 } } }

    /// The path in the bundle of any file or folder; `nil` if it is left out.
    func path(of name: String) -> String? {
      for (place, paths) in paths {
        if let rest = name.path(below: place) { return paths[rest] }
      }
      return name
    }
  }

  private static func extras(of tree: FolderTree) -> Extras {
    var extras = Extras()
    for place in [BundleLayout.attachments, BundleLayout.appData] {
      let paths = (tree.files + tree.emptyFolders).compactMap { $0.path(below: place) }
      extras.paths.append((place, PortablePaths(paths, below: place, areEncoded: true)))
    }
    return extras
  }
}

/// The files and empty folders below a folder.
package struct FolderTree {
  /// The names of the regular files relative to the folder, with components separated by `/`, sorted by their bytes.
  package let files: [String]
  /// The names of the empty folders, in the same form and order. Each ends in `/`.
  let emptyFolders: [String]

  /// Lists `root` recursively. Ignores Finder's metadata. Throws ``BundleError/unexpectedEntry(_:)`` for a link or a
  /// device.
  package init(_ root: String) throws(BundleError) {
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
    self.files = files.sortedByBytes
    self.emptyFolders = emptyFolders.sortedByBytes
  }
}

extension [String] {
  var sortedByBytes: [String] { sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
}

/// A file on disk that is part of a bundle.
struct BundleMember {
  /// The name in the bundle.
  let name: String
  /// The path on disk.
  let source: String
  /// The description in the manifest, if the file is a recording.
  let recording: Manifest.Recording?
  /// Whether the file is marked as executable.
  var isExecutable = false

  /// Checks that the file is a regular file and, for a recording, that its size and digest match the manifest.
  func verify() throws(BundleError) {
    let file = try BundleError.disk(File(source))
    guard try BundleError.disk(file.isRegular) else { throw .unexpectedEntry(name) }
    guard let recording else { return }
    let (size, sha256) = try BundleError.disk(ContentDigest.measure(file))
    try recording.check(size: size, sha256: sha256)
  }
}
