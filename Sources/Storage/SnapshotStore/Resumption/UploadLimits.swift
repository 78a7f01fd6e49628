/// The limits of resumable uploads.
public struct UploadLimits: Sendable, Hashable {
  /// The most bytes of one upload, complete or not. Servers have the same default for a bundle.
  public var length: Int64 = 2 << 30
  /// The most uploads that may be open at once.
  public var open = 1000
  /// The most open uploads of one owner. All uploads without an owner count as those of one.
  public var openPerOwner = 200
  /// The most open uploads that were created from one client address.
  public var openPerAddress = 50
  /// The number of ended uploads whose outcome is kept. The ones that ended first are removed first.
  public var remembered = 2000
  /// How many received bytes of a request are still processed after a newer request asked to take over the upload.
  public var supersededBytes: Int64 = 8 << 20
  /// The most parts that an upload may be joined from.
  public var parts = 250
  /// The most bytes of an upload's terms, as JSON.
  public var termsBytes = 16 << 10
  /// How long an upload is kept after it last grew, and how long its outcome is kept after it ended.
  public var idle: Duration = .seconds(24 * 3600)
  /// How long an upload without any byte is kept.
  public var empty: Duration = .seconds(10 * 60)
  /// How long an upload is kept at most, even if it still grows.
  public var age: Duration = .seconds(7 * 24 * 3600)
  /// The number of received bytes after which they are made durable while the request continues.
  public var checkpointBytes: Int64 = 8 << 20
  /// The time after which received bytes are made durable while the request continues.
  public var checkpointInterval: Duration = .seconds(2)

  /// Creates limits with the default values.
  public init() {}
}
