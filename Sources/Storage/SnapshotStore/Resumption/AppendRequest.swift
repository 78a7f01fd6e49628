public import SnapshotFormat

/// The statements of a request that appends bytes to an upload.
public struct AppendRequest: Sendable {
  /// The offset at which its bytes begin. Must be the current end of the upload.
  public var offset: Int64
  /// The total length of the upload, if the request states it. It can be set once, and must be the same in all
  /// requests.
  public var length: Int64?
  /// Whether the upload is complete after this request; `nil` if it is complete once its length is reached.
  public var completes: Bool?
  /// The digest of this request's bytes. It is verified before any of them counts.
  public var digest: StatedDigest?
  /// The digest of all bytes of the upload, if the request states it. It is verified before they are published.
  public var expected: ContentDigest?

  /// Creates a request.
  public init(
    offset: Int64, length: Int64? = nil, completes: Bool? = nil, digest: StatedDigest? = nil,
    expected: ContentDigest? = nil
  ) {
    self.offset = offset
    self.length = length
    self.completes = completes
    self.digest = digest
    self.expected = expected
  }
}

/// A digest that the sender of some bytes stated.
public enum StatedDigest: Sendable {
  /// A digest by a supported algorithm. The length of `bytes` is not checked.
  public struct Value: Sendable, Hashable {
    /// The supported algorithms.
    public enum Algorithm: Sendable, Hashable, CaseIterable { case sha1, sha256 }

    /// The algorithm that made the digest.
    public var algorithm: Algorithm
    /// The bytes of the digest.
    public var bytes: [UInt8]

    /// Creates a digest.
    public init(_ algorithm: Algorithm, _ bytes: [UInt8]) {
      self.algorithm = algorithm
      self.bytes = bytes
    }
  }

  /// Sent before the bytes.
  case before(Value)
  /// Sent after the bytes, as a trailer; the closure is called when the body has ended. If it returns `nil`, the
  /// trailer is missing, and the bytes are refused as if the digest differed. An error that it throws is rethrown as
  /// ``UploadError/body(_:)``.
  case after(@Sendable () throws -> Value?)
}
