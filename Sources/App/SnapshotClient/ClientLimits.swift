/// Limits on the data that the client sends and accepts.
public struct ClientLimits: Sendable, Hashable {
  /// The maximum size of a JSON response in bytes.
  public var answerBytes = 8 * 1024 * 1024
  /// The maximum size of a downloaded bundle in bytes.
  public var bundleBytes: Int64 = 64 * 1024 * 1024 * 1024
  /// The maximum size of a token in bytes.
  public var tokenBytes = 4096
  /// The maximum size of a page cursor in bytes.
  public var cursorBytes = 4096
  /// The number of records requested per page.
  public var pageLength = 100
  /// The maximum size of an entity tag in bytes. A download with a longer tag can't be resumed.
  public var entityTagBytes = 1024
  /// The maximum size of a file with the state of a download or upload, in bytes.
  public var resumptionBytes: Int64 = 64 * 1024

  /// The maximum size of a resumable upload's address in bytes. An upload with a longer address can't be resumed.
  public var uploadAddressBytes = 2048

  /// Creates limits with the default values.
  public init() {}
}
