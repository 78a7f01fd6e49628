public import Foundation
import SystemIO

extension SnapshotBundle {
  /// Makes a bundle whose `app-data/` is the container that lies in `folder`, writes it to `zip` as
  /// ``pack(folder:to:)`` does, and reads it back whole.
  ///
  /// Empty folders and executable bits are kept. Paths that differ only in case, or in the composition of
  /// characters, are refused: a zip that holds them can't be unpacked everywhere. Links and devices are refused.
  /// - Parameter manifest: what is known of the app and the device; it has no recordings.
  public static func pack(
    container folder: URL, describedBy manifest: Manifest, limits: ContainerLimits = .default, to zip: URL
  ) throws(AppDataError) -> Packed {
    let root = try AppDataError.disk("") { () throws(SystemError) in try OpenFolder(folder.path) }
    let entries = try ContainerTree(root, limits: limits).entries
    let parents = Set(entries.map(\.parent))
    let members = entries.filter { !$0.isFolder }.map { entry in
      BundleMember(
        name: BundleLayout.appData + entry.path, source: root.path + "/" + entry.path, recording: nil,
        isExecutable: entry.isExecutable)
    }
    let emptyFolders = entries.filter { $0.isFolder && !parents.contains($0.path) }
      .map { BundleLayout.appData + $0.path + "/" }
    // A container that holds nothing is one all the same.
    let folders = entries.isEmpty ? [BundleLayout.appData] : emptyFolders
    var manifest = manifest
    manifest.recordings = []
    do throws(BundleError) {
      let packed = try write(
        manifest, json: Array(manifest.json()), members, emptyFolders: folders, to: zip)
      _ = try validate(zip: zip, depth: .full)
      return packed
    } catch {
      throw .snapshot(error)
    }
  }
}
