public import Foundation
public import ZipArchive

/// A snapshot as a folder and as a zip: one into the other, and the rules that both obey.
public enum SnapshotBundle {
  /// How much of a bundle is read to judge it.
  public enum Depth: Sendable, Hashable {
    /// Directory, names, sizes, local headers and manifest; no recording is inflated.
    case structure
    /// All of that, and every entry's checksum and every recording's digest.
    case full
  }

  /// A zip that has been written.
  public struct Packed: Sendable, Hashable {
    /// The manifest inside.
    public var manifest: Manifest
    /// The zip's length in bytes.
    public var size: Int64
    /// The digest of the zip's bytes.
    public var sha256: ContentDigest
  }

  /// Reads the zip at `url` and checks it to `depth`.
  /// - Returns: the manifest.
  public static func validate(
    zip url: URL, depth: Depth, limits: ZipLimits = .default
  ) throws(BundleError) -> Manifest { fatalError("stub") }

  /// Reads the snapshot folder at `url` and checks every recording against its manifest.
  public static func validate(folder url: URL) throws(BundleError) -> Manifest { fatalError("stub") }

  /// Zips the snapshot folder at `folder` into a new file at `zip`; the same folder gives the same bytes.
  /// Nothing is left at `zip` when it fails.
  public static func pack(folder: URL, to zip: URL) throws(BundleError) -> Packed { fatalError("stub") }

  /// Unpacks the zip into a new folder at `folder`, checking everything on the way. Nothing is left at `folder`
  /// when it fails.
  public static func unpack(
    zip: URL, into folder: URL, limits: ZipLimits = .default
  ) throws(BundleError) -> Manifest { fatalError("stub") }
}
