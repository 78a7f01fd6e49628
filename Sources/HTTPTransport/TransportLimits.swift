/// What a response may be at most, wherever it goes.
public enum TransportLimits {
  /// The bytes of a response's status line and fields.
  public static let headBytes = 256 * 1024
  /// How much of a body is kept that was meant for a file, but came with another status than 200 and 206.
  public static let problemBytes = 64 * 1024
  /// How long such a body may be before the transfer is given up.
  public static let discardedBytes = 1024 * 1024
}
