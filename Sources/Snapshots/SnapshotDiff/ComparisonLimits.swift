/// How much is looked at, and told, where two snapshots are compared: what bounds its memory and its time.
///
/// Memory: the contents of one recording at a time, on both sides, and 32 bytes for each value of JSON in it.
public struct ComparisonLimits: Sendable, Hashable {
  /// The most bytes of a recording, on either side, that is read.
  public var recordingBytes = 64 << 20
  /// The most bytes of all recordings that are read.
  public var totalBytes: Int64 = 4 << 30
  /// The most values of a JSON document.
  public var values = 8_000_000
  /// The deepest nesting of a JSON document.
  public var depth = 256
  /// The most changes that are told of one recording.
  public var changes = 1000
  /// The most changes that are told of all recordings together.
  public var totalChanges = 100_000
  /// The most recordings that are added, removed or changed, and the most files, that are told of each: those that come
  /// first. All are counted.
  public var listed = Int.max
  /// The most bytes that are told of a value.
  public var excerptLength = 160
  /// The most bytes that are told of a key in a path.
  public var keyLength = Int.max
  /// How long contents are compared; of what is left then is told only that it differs.
  public var duration: Duration?

  /// The limits above.
  public init() {}

  /// The limits above.
  public static let `default` = ComparisonLimits()
}
