public import HTTPEngine
public import SnapshotFormat
public import SnapshotStore

/// Uploads that go on where they stopped: what every protocol for them calls. It knows of no request's head and of no
/// status code.
///
/// An upload belongs to the token that opened it: to all others there is none. Its requests take turns: a newer one
/// first ends the body of the older, which throws ``UploadError/superseded``, and begins when what that brought counts.
/// Whatever a status says of the offset has been made to last before. Safe to use from any task.
public struct UploadService: Sendable {
  /// How much is taken on; told to clients.
  public let limits: UploadLimits

  /// Opens an upload, nothing of whose body is there yet; lasts when it returns. One that is joined from parts, and one
  /// of no bytes, is complete then, and its status has the outcome.
  ///
  /// The owner, and in the attachment the token, its limits and, where there is none, a UUID, are filled in here.
  ///
  /// Throws ``UploadError/forbidden``, ``UploadError/tooLarge(limit:)``, ``UploadError/inconsistentLength(known:stated:)``
  /// for a negative length, ``UploadError/tooManyOpen(limit:)``, ``UploadError/termsTooLong(limit:)``,
  /// ``UploadError/partCount(limit:)``, ``UploadError/unusablePart(_:)``, ``UploadError/body(_:)`` for a quota, or
  /// ``UploadError/store(_:)``.
  public func create(_ terms: UploadTerms, of caller: Caller) async throws(UploadError) -> UploadStatus {
    throw .unknown
  }

  /// Ends whatever request still appends to the upload, then says how far it is. One that is complete and was not ended,
  /// by a crash or for want of room, is ended now.
  ///
  /// Throws ``UploadError/unknown``, ``UploadError/gone`` or ``UploadError/store(_:)``.
  public func status(_ id: UploadID, of caller: Caller) async throws(UploadError) -> UploadStatus {
    throw .unknown
  }

  /// Ends whatever request still appends to the upload, then appends `body` as far as it comes: what came counts even
  /// where it breaks off, unless a digest was to be looked at, or more came than may. Where the upload is complete with
  /// it, it is published or refused, which the status tells rather than an error.
  ///
  /// An empty body at the end of a complete upload asks for its outcome once more.
  ///
  /// Bytes are counted against the caller's quotas as they come.
  /// - Parameter onProgress: told, in between, of offsets that last by then.
  public func append(
    _ id: UploadID, _ request: AppendRequest, body: HTTPRequestBody, of caller: Caller,
    onProgress: (@Sendable (Int64) async -> Void)? = nil
  ) async throws(UploadError) -> UploadStatus {
    throw .unknown
  }

  /// What an upload was published as: for the answer to a status whose outcome says so.
  public func publication(_ id: SnapshotID, isNew: Bool) async throws(StoreError) -> Publication {
    throw .notFound
  }

  /// Ends whatever request still appends to the upload, and forgets it; what is published stays.
  public func terminate(_ id: UploadID, of caller: Caller) async throws(UploadError) {
    throw .unknown
  }
}
