import Foundation
import SystemIO

/// A folder whose files and manifest are those of a snapshot.
struct FolderBundle {
  let manifest: Manifest
  /// `manifest.json` as it lies in the folder.
  let json: [UInt8]
  /// All files but the manifest, sorted by the bytes of their names.
  let members: [BundleMember]

  /// Reads the manifest and checks the names and sizes of all files, not yet their contents.
  init(_ url: URL) throws(BundleError) {
    let root = url.path + "/"
    let names = try FolderTree.files(in: url.path)
    guard names.contains(BundleLayout.manifest) else { throw .manifestMissing }
    let most = Manifest.Limits.default.size
    json = try BundleError.disk(File(root + BundleLayout.manifest).read(upTo: most + 1, at: 0))
    manifest = try Manifest(json: Data(json))

    let recordings = Dictionary(uniqueKeysWithValues: manifest.recordings.map { ($0.path, $0) })
    members = names.filter { $0 != BundleLayout.manifest }.map { name in
      BundleMember(name: name, source: root + name, recording: recordings[name])
    }
    var files: [(name: String, size: Int64)] = []
    for member in members {
      files.append((member.name, try BundleError.disk(File(member.source).size)))
    }
    try BundleLayout.check(files, against: manifest)
  }
}
