/// How much uploads that may be resumed take on, in one place.
public struct UploadLimits: Sendable, Hashable {
  /// The most bytes of one, finished or not.
  public var length: Int64 = 2 << 30
  /// How many may be open at once.
  public var open = 1000
  /// How many of one owner may be open at once; all that have none count as one owner's.
  public var openPerOwner = 200
  /// How many that were opened from one client address may be open at once.
  public var openPerAddress = 50
  /// How many that have ended are remembered with their outcome; the ones that ended first are forgotten first.
  public var remembered = 2000
  /// The most bytes that are still taken of a request for which a newer one waits, of those that have come already.
  public var supersededBytes: Int64 = 8 << 20
  /// How many parts one may be joined from.
  public var parts = 250
  /// The most bytes that the terms of one take as JSON.
  public var termsBytes = 16 << 10
  /// How long one is kept after it last grew, and its outcome after it ended.
  public var idle: Duration = .seconds(24 * 3600)
  /// How long one is kept that has no byte yet.
  public var empty: Duration = .seconds(10 * 60)
  /// How long one is kept at most, however it grows.
  public var age: Duration = .seconds(7 * 24 * 3600)
  /// After how many bytes what arrived is made to last, though the request goes on.
  public var checkpointBytes: Int64 = 8 << 20
  /// After what time what arrived is made to last, though the request goes on.
  public var checkpointInterval: Duration = .seconds(2)

  /// The limits above.
  public init() {}
}
