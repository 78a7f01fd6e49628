/// Where snapshots are stored: in a folder, or in an object store.
package enum StorageAddress: Sendable, Hashable {
  /// The path of a storage folder.
  case folder(String)
  /// The bucket, and optionally a prefix in it: `s3://bucket/prefix`.
  case objectStore(String)

  /// Reads a path or an address; `nil` for an address of another kind.
  package init?(_ text: String) {
    if text.hasPrefix("s3://") {
      self = .objectStore(text)
    } else if text.contains("://") || text.isEmpty {
      return nil
    } else {
      self = .folder(text)
    }
  }
}
