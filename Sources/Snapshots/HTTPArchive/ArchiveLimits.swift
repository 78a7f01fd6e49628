import SnapshotFormat

/// The limits of an HTTP archive that is read. They bound the memory, whatever the archive contains.
package struct ArchiveLimits: Sendable, Hashable {
  /// The maximum number of entries. An archive with more is refused.
  package var entries = 100_000
  /// The maximum size of an entry, and of everything else beside the entries together: the bytes of its texts and
  /// ``valueSize`` for each value. Of a larger entry, only the beginning is kept; it has no exchange.
  package var entrySize = 64 << 20
  /// The maximum nesting of objects and arrays. An archive that is nested deeper is refused.
  package var depth = 128
  /// The maximum length of a URL in UTF-8 bytes. An entry with a longer one has no exchange.
  package var urlLength = 32 << 10
  /// The maximum size of the description of an exchange in bytes. An entry with a larger one has no exchange.
  package var descriptionSize = Manifest.Exchange.sizeLimit
  /// The maximum size of a body in a file beside the archive.
  package var fileSize = 64 << 20

  /// What a value counts in addition to its text.
  package static let valueSize = 64

  /// Creates the default limits.
  package init() {}
}
