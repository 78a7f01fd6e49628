/// Why an upload does not do what it was asked.
public enum UploadError: Error, Sendable {
  /// There is no such upload, or none that the caller may know of.
  case unknown
  /// It was there and has expired.
  case gone
  /// The bytes begin elsewhere than where the upload ends.
  case mismatchingOffset(expected: Int64, provided: Int64)
  /// What is said of the length contradicts itself, or what was said before.
  case inconsistentLength(known: Int64?, stated: Int64)
  /// More bytes come than the upload has in all.
  case exceeded(length: Int64)
  /// The upload would have more bytes than any may.
  case tooLarge(limit: Int64)
  /// It has all of its bytes, and takes none any more.
  case completed
  /// It is made of parts, and takes no bytes itself.
  case joined
  /// One of the parts is no finished part of the caller's.
  case unusablePart(UploadID)
  /// It would be made of more parts than any may, or of none.
  case partCount(limit: Int)
  /// What came with it takes more bytes than is kept.
  case termsTooLong(limit: Int)
  /// The bytes of the request do not have the digest that it states; none of them counts.
  case digestMismatch
  /// The bytes of the request have another digest than the one that came after them, which never came.
  case digestMissing
  /// As many uploads are open as may be.
  case tooManyOpen(limit: Int)
  /// A newer request has taken the upload over.
  case superseded
  /// The caller may not attach what the upload is to be attached to.
  case forbidden
  /// The body broke off or was refused while it came; what came before counts. This is the error to answer with.
  case body(any Error)
  /// The store can't.
  case store(StoreError)
  /// It is published, but something else failed.
  case other(any Error)
}
