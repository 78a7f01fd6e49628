/// What the client takes at most, and gives at most.
public struct ClientLimits: Sendable, Hashable {
  /// The bytes of one answer in JSON.
  public var answerBytes = 8 * 1024 * 1024
  /// The bytes of a bundle that is fetched.
  public var bundleBytes: Int64 = 64 * 1024 * 1024 * 1024
  /// The bytes of a token.
  public var tokenBytes = 4096
  /// The bytes of a page's cursor.
  public var cursorBytes = 4096
  /// The records of one page that is asked for.
  public var pageLength = 100
  /// The bytes of an entity tag, as it is sent; a download under a longer one can't be gone on with.
  public var entityTagBytes = 1024
  /// The bytes of a file that says how far a download or an upload came.
  public var resumptionBytes: Int64 = 64 * 1024

  /// The bytes of the address under which a server has an upload go on; one with a longer one can't be gone on with.
  public var uploadAddressBytes = 2048

  /// The defaults above.
  public init() {}
}
