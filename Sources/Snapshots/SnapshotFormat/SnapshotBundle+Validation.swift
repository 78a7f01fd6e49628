public import Foundation
public import ZipArchive

extension SnapshotBundle {
  /// Reads the zip at `url` and checks it to `depth`, in some fifty bytes of memory for each recording.
  /// - Returns: what the bundle says of itself.
  public static func check(
    zip url: URL, depth: Depth, limits: ZipLimits = .default
  ) throws(BundleError) -> BundleSummary {
    try checked(url, depth, limits).summary
  }

  /// Reads the zip at `url` and checks it to `depth`.
  /// - Returns: the manifest.
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

  /// Reads the snapshot folder at `url` and checks every recording against its manifest.
  /// - Returns: the manifest.
  public static func validate(folder url: URL) throws(BundleError) -> Manifest {
    let bundle = try FolderBundle(url)
    for member in bundle.members { try member.verify() }
    return bundle.manifest
  }
}
