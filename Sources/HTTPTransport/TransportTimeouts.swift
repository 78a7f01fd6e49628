/// How long to wait, in seconds.
public struct TransportTimeouts: Sendable, Hashable {
  /// Until the connection stands; more than 0.
  public var connect: Double = 15
  /// Without a byte in either direction, once the connection stands; more than 0.
  public var idle: Double = 60
  /// For all of it; `nil` for no limit.
  public var total: Double?

  /// The defaults above.
  public init() {}
}
