public import Foundation
import SystemIO
public import ZipArchive

/// Packs, unpacks and validates snapshots, which exist as folders and as zips with the same rules.
///
/// All calls block while reading and writing: do not call them on the main thread or on the threads of Swift's
/// concurrency.
///
///     let packed = try SnapshotBundle.pack(folder: folder, to: zip)
///     print(packed.manifest.id, packed.size, packed.sha256)
///     let manifest = try SnapshotBundle.unpack(zip: zip, into: copy)
public enum SnapshotBundle {
  /// How thoroughly a bundle is checked.
  public enum Depth: Sendable, Hashable {
    /// Directory, names, sizes, local headers and manifest. No recording is inflated.
    case structure
    /// The structure, the checksum of every entry and the digest of every recording.
    case full
  }

  /// The result of packing.
  public struct Packed: Sendable, Hashable {
    /// The manifest inside.
    public var manifest: Manifest
    /// The size of the zip in bytes.
    public var size: Int64
    /// The digest of the zip.
    public var sha256: ContentDigest
    /// The paths of the files and folders that the zip does not contain, because it can't contain their names: they are
    /// too long when they are encoded, or not UTF-8.
    public var leftOut: [String] = []
  }
}

extension SnapshotBundle {
  /// Checks the zip at `url` to `depth`, in about fifty bytes of memory for each recording.
  /// - Returns: The description of the bundle.
  public static func check(
    zip url: URL, depth: Depth, limits: ZipLimits = .default
  ) throws(BundleError) -> BundleSummary {
    try checked(url, depth, limits).summary
  }

  /// Checks the zip at `url` to `depth`.
  /// - Returns: The manifest.
  public static func validate(
    zip url: URL, depth: Depth, limits: ZipLimits = .default
  ) throws(BundleError) -> Manifest {
    try checked(url, depth, limits).manifest()
  }

  private static func checked(
    _ url: URL, _ depth: Depth, _ limits: ZipLimits
  ) throws(BundleError) -> BundleCheck {
    var check = try BundleCheck(zip: url, depth: depth, limits: limits)
    try check.finish()
    return check
  }

  /// Checks every recording in the snapshot folder at `url` against the manifest.
  /// - Returns: The manifest.
  public static func validate(folder url: URL) throws(BundleError) -> Manifest {
    let bundle = try FolderBundle(url)
    for member in bundle.members { try member.verify() }
    return bundle.manifest
  }
}

extension SnapshotBundle {
  /// Packs the app's container in `folder` into `app-data/` of a bundle, writes it to `zip` as ``pack(folder:to:)``
  /// does, and verifies the written zip.
  ///
  /// Keeps empty folders and executable bits. Names that are not safe on every system, such as those with a colon or that
  /// differ only in letter case, are encoded (``PortableName``). Throws if the container has links or devices.
  /// - Parameters:
  ///   - folder: The container, such as the folder `AppData` of an `.xcappdata` bundle.
  ///   - manifest: The description of the app and the device. Its recordings are ignored.
  ///   - limits: The limits on the container. One that exceeds them is refused.
  ///   - zip: The location of the bundle.
  public static func pack(
    container folder: URL, describedBy manifest: Manifest, limits: ContainerLimits = .default, to zip: URL
  ) throws(AppDataError) -> Packed {
    let root = try AppDataError.disk("") { () throws(SystemError) in try OpenFolder(folder.path) }
    let tree = try ContainerTree(root, limits: limits, leavesOutUnusableNames: true)
    let paths = PortablePaths(tree.entries.map(\.path), below: BundleLayout.appData, areEncoded: false)
    let entries = tree.entries.compactMap { entry in paths[entry.path].map { (name: $0, entry: entry) } }
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    let parents = Set(entries.map { Array($0.entry.parent.utf8) })
    let members = entries.filter { !$0.entry.isFolder }.map { name, entry in
      BundleMember(
        name: name, source: root.path + "/" + entry.path, recording: nil, isExecutable: entry.isExecutable)
    }
    let emptyFolders = entries.filter { $0.entry.isFolder && !parents.contains(Array($0.entry.path.utf8)) }
      .map { $0.name + "/" }.sortedByBytes
    // A bundle contains an empty container as an empty folder.
    let folders = entries.isEmpty ? [BundleLayout.appData] : emptyFolders
    var manifest = manifest
    manifest.recordings = []
    do {
      var packed = try write(
        manifest, json: Array(manifest.json()), members, emptyFolders: folders, to: zip)
      packed.leftOut = tree.unusableNames + paths.leftOut
      _ = try validate(zip: zip, depth: .full)
      return packed
    } catch {
      throw .snapshot(error)
    }
  }
}
