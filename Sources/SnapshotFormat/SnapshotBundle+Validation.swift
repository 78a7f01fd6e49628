public import Foundation
public import ZipArchive

extension SnapshotBundle {
  /// Reads the zip at `url` and checks it to `depth`.
  /// - Returns: the manifest.
  public static func validate(
    zip url: URL, depth: Depth, limits: ZipLimits = .default
  ) throws(BundleError) -> Manifest {
    let bundle = try ZippedBundle(url, limits: limits)
    if depth == .full {
      for entry in bundle.reader.entries where !entry.isFolder { try unsafe bundle.read(entry) { _ in } }
    }
    return bundle.manifest
  }

  /// Reads the snapshot folder at `url` and checks every recording against its manifest.
  /// - Returns: the manifest.
  public static func validate(folder url: URL) throws(BundleError) -> Manifest {
    let bundle = try FolderBundle(url)
    for member in bundle.members { try member.verify() }
    return bundle.manifest
  }
}
