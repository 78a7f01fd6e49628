/// The limits of a store in an object store.
enum S3StoreLimits {
  /// The maximum length of a record with its comments, in bytes.
  static let recordBytes = 32 << 20
  /// The maximum length of the mark of a migration, in bytes.
  static let markBytes = 64 << 10
  /// How many records are read at once.
  static let concurrentReads = 16
  /// The minimum cost of a bundle in the cache, in bytes, because each also takes a descriptor.
  static let cachedBundleBytes = 1 << 20
  /// The maximum size of a bundle that is read completely before it is sent, in bytes.
  static let awaitedBundleBytes: Int64 = 4 << 20
  /// The maximum size of a range that is read by itself, in bytes. It is also at most half of the bundle.
  static let rangeBytes: Int64 = 16 << 20
  /// The pause before a reader looks again for bytes that have not arrived.
  static let arrivalPause = Duration.milliseconds(10)
  /// The maximum size of the pieces in which a bundle is sent while it arrives, in bytes.
  static let pieceBytes: Int64 = 1 << 20
  /// How long the store may take to answer before it counts as not answering, in seconds.
  static let probeSeconds: Double = 3
  /// The maximum size of a part of a resumable upload, in bytes.
  static let partBytes: Int64 = 64 << 20
  /// The maximum number of parts of a resumable upload. Twice as many numbers can be used, and one more for each request
  /// that fails, of the ``/S3Client/S3Limits/parts`` that exist.
  static let parts: Int64 = 2500
  /// How many bytes of an upload are read at once, when it is completed on another server.
  static let readBytes: Int64 = 8 << 20
  /// The maximum size of the local files of uploads that can be continued, in bytes.
  static let keptUploadBytes = 1 << 30
  /// The pause before a server tries again to take over an upload from another one.
  static let takeoverPause = Duration.milliseconds(250)
  /// The minimum time between two renewals of a lease while an upload is published.
  static let shortestRenewal = Duration.seconds(1)
}
