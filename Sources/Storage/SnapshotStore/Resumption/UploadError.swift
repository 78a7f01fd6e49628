/// The reason why an operation on an upload failed.
public enum UploadError: Error, Sendable {
  /// There is no such upload, or the caller has no access to it.
  case unknown
  /// The upload has expired.
  case gone
  /// The request does not begin at the upload's current offset.
  case mismatchingOffset(expected: Int64, provided: Int64)
  /// The stated length contradicts the received bytes, or an earlier statement.
  case inconsistentLength(known: Int64?, stated: Int64)
  /// The request brings more bytes than the upload's length allows.
  case exceeded(length: Int64)
  /// The upload would have more bytes than the limit allows.
  case tooLarge(limit: Int64)
  /// The upload is complete and accepts no more bytes.
  case completed
  /// The upload is joined from parts and accepts no bytes itself.
  case joined
  /// The upload is not a complete part that belongs to the caller.
  case unusablePart(UploadID)
  /// The upload would be joined from too many parts, or from none.
  case partCount(limit: Int)
  /// The terms of the upload are longer than the limit allows.
  case termsTooLong(limit: Int)
  /// The bytes of the request do not have the digest that it states. None of them counts.
  case digestMismatch
  /// The digest that the request announced for its end is missing. None of its bytes counts.
  case digestMissing
  /// The limit of open uploads is reached.
  case tooManyOpen(limit: Int)
  /// A newer request has taken over the upload.
  case superseded
  /// The caller may not attach bundles to the upload's report.
  case forbidden
  /// The body ended early, or was refused while it arrived. The bytes before that count. Answer with this error.
  case body(any Error)
  /// The store failed or refused the operation.
  case store(StoreError)
  /// The upload is published, but something else failed.
  case other(any Error)
}
