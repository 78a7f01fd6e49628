/// The limits of a store in an object store.
enum S3StoreLimits {
  /// The maximum length of a record with its comments, in bytes.
  static let recordBytes = 32 << 20
  /// How many records are read at once.
  static let concurrentReads = 16
  /// The minimum cost of a bundle in the cache, in bytes, because each also takes a descriptor.
  static let cachedBundleBytes = 1 << 20
  /// How long the store may take to answer before it counts as not answering, in seconds.
  static let probeSeconds: Double = 3
}
