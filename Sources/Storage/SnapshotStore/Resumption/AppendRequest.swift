/// What one request that brings bytes to an upload says of them.
public struct AppendRequest: Sendable {
  /// Where its bytes begin; only the end of what is there is taken.
  public var offset: Int64
  /// How many bytes the upload has in all, where the request says so: taken once, and has to be the same ever after.
  public var length: Int64?
  /// Whether the upload is complete with this request; `nil` where it is when its length is reached.
  public var completes: Bool?
  /// The digest of this request's bytes, which is looked at before any of them counts.
  public var digest: StatedDigest?

  /// A request by its parts.
  public init(offset: Int64, length: Int64? = nil, completes: Bool? = nil, digest: StatedDigest? = nil) {
    self.offset = offset
    self.length = length
    self.completes = completes
    self.digest = digest
  }
}

/// A digest as the sender of some bytes states it.
public enum StatedDigest: Sendable {
  /// A digest by one of the ways to make one that are known here; its bytes may be anything.
  public struct Value: Sendable, Hashable {
    /// The ways to make one.
    public enum Algorithm: Sendable, Hashable, CaseIterable { case sha1, sha256 }

    /// How it was made.
    public var algorithm: Algorithm
    /// What it is.
    public var bytes: [UInt8]

    /// A digest that `algorithm` made.
    public init(_ algorithm: Algorithm, _ bytes: [UInt8]) {
      self.algorithm = algorithm
      self.bytes = bytes
    }
  }

  /// It came before the bytes.
  case before(Value)
  /// It comes after them: asked for when the body has ended. `nil` says that it never came, and the bytes are refused as
  /// if it differed; what is thrown is thrown on as ``UploadError/body(_:)``.
  case after(@Sendable () throws -> Value?)
}
