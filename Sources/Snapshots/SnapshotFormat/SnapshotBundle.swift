/// A snapshot as a folder and as a zip: one into the other, and the rules that both obey.
///
/// Everything here works on the disk and returns when it is done: call it off the main thread, and not on the
/// threads that run Swift's tasks.
///
///     let packed = try SnapshotBundle.pack(folder: folder, to: zip)
///     print(packed.manifest.id, packed.size, packed.sha256)
///     let manifest = try SnapshotBundle.unpack(zip: zip, into: copy)
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
}
