import Foundation
import SystemIO

/// A folder whose files and manifest are those of a snapshot.
struct FolderBundle {
  let manifest: Manifest
  /// `manifest.json` as it lies in the folder.
  let json: [UInt8]
  /// All files but the manifest, sorted by the bytes of their names.
  let members: [BundleMember]
  /// The folders of the app's container that hold nothing, each with a `/` at its end.
  let emptyFolders: [String]

  /// Reads the manifest and checks the names and sizes of all files, not yet their contents.
  init(_ url: URL) throws(BundleError) {
    let root = url.path + "/"
    let tree = try FolderTree(url.path)
    let names = tree.files
    emptyFolders = tree.emptyFolders.filter { $0.hasPrefix(BundleLayout.appData) }
    guard names.contains(BundleLayout.manifest) else { throw .manifestMissing }
    let most = Manifest.Limits.default.size
    json = try BundleError.disk(File(root + BundleLayout.manifest).read(upTo: most + 1, at: 0))
    manifest = try Manifest(json: Data(json))

    let recordings = Dictionary(uniqueKeysWithValues: manifest.recordings.map { ($0.path, $0) })
    members = names.filter { $0 != BundleLayout.manifest }.map { name in
      BundleMember(
        name: name, source: root + name, recording: recordings[name],
        isExecutable: name.hasPrefix(BundleLayout.appData) && Folder.isExecutableFile(root + name))
    }
    var files: [(name: String, size: Int64)] = []
    for member in members {
      files.append((member.name, try BundleError.disk(File(member.source).size)))
    }
    try BundleLayout.check(files, against: manifest)
  }
}
