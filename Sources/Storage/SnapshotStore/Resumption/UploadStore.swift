public import SystemIO

/// Receives uploads that consist of one request, and publishes them as bundles of the same store.
///
/// A transient upload that was not published leaves nothing behind, at the latest when the next store has repaired the
/// remains of a crash.
public protocol TransientUploadStore: Sendable {
  /// The limits of uploads.
  var uploadLimits: UploadLimits { get }

  /// Begins a transient upload, which consists of one request and can't be resumed. Its session is never stored, is not
  /// listed in ``UploadStore/uploadSessions()``, and counts against no limit of open uploads. Its bytes are removed when
  /// it ends without being published, when the last reference to it is released, or at the next start.
  /// - Parameters:
  ///   - terms: the terms of a whole upload. The attachment is passed to ``TransientUpload/commit(_:)``.
  ///   - limit: the most bytes that the upload may have, if less than ``UploadLimits/length``.
  ///   - length: the minimum number of bytes to expect, if known. If they don't fit, the upload is refused here with
  ///     ``StoreError/outOfSpace`` or ``StoreError/quotaExceeded(limit:)``. An upload of a few KB that does not fit on
  ///     the disk can be refused at its commit instead.
  func beginTransientUpload(
    _ terms: UploadTerms, limit: Int64, expecting length: Int64?
  ) async throws(UploadError) -> any TransientUpload
}

/// Receives uploads, in one or several requests, and publishes them as bundles of the same store.
///
/// Every such store guarantees the following, and one test suite checks it for all of them:
/// - The state in every session that it returns survives a power cut. So an offset that a client was sent never
///   decreases.
/// - A crash can lose bytes that were received but not acknowledged yet, and no others.
/// - Neither a session nor the disk ever holds more bytes than the limits allow.
/// - An upload is published at most once. Its bytes are not copied, except those of parts that are joined.
///
/// The caller refuses and removes expired uploads, and must serialize all calls for one upload. ``uploadSessions()`` is
/// exempt and can be called at any time.
public protocol UploadStore: TransientUploadStore {
  /// Creates an upload. An upload that is joined from parts has all of its bytes when this returns.
  func createUpload(_ terms: UploadTerms) async throws(UploadError) -> UploadSession
  /// Returns the session of an upload. Throws ``UploadError/unknown``.
  func uploadSession(_ id: UploadID) async throws(UploadError) -> UploadSession
  /// Returns all sessions, including ended ones whose outcome is kept, in no particular order.
  func uploadSessions() async -> [UploadSession]
  /// Begins a request that appends to an upload. Throws the errors of ``UploadSession/admit(_:bytes:limits:at:)``.
  func beginAppending(
    _ request: AppendRequest, bytes: Int64?, to id: UploadID
  ) async throws(UploadError) -> any UploadAppending
  /// Publishes a whole upload like a transient one, or refuses it permanently. Both end the upload, and the returned
  /// session contains the outcome. If it has ended before, nothing changes. Throws ``UploadError/store(_:)`` for a
  /// failure that the bytes did not cause; the caller can retry.
  func commitUpload(_ id: UploadID, as attachment: Attachment) async throws(UploadError) -> UploadSession
  /// Removes an upload and its bytes. A published bundle remains.
  func removeUpload(_ id: UploadID) async throws(UploadError)
}

/// A request that appends bytes to an upload. Must be used, and ended, by one task at a time, except that one
/// ``checkpoint()`` may run while bytes are written.
public protocol UploadAppending: Sendable {
  /// Accepts the next bytes, in order; returns when there is room for more, which can be before they are written.
  ///
  /// If it throws because the bytes exceed a limit, none of these bytes is accepted. A failure of the disk can concern
  /// bytes that were accepted before. Every later call then throws it too, and the bytes written before the failure
  /// count as described at ``UploadEnding/broken``.
  func write(_ bytes: IOBuffer) async throws(UploadError)
  /// Makes the bytes durable that were received before the call, if they count already. Returns the offset that can be
  /// sent to the client, which can include bytes that are received during the call.
  func checkpoint() async throws(UploadError) -> Int64
  /// Makes the bytes that count durable, and ends the request. Throws the errors of ``UploadSession/finish(_:at:)``. If
  /// bytes could not be written, ``UploadEnding/finished`` throws the failure, and the bytes before it count as for a
  /// request that broke off.
  func end(_ ending: UploadEnding) async throws(UploadError) -> UploadSession
}

/// An upload that consists of one request. Ends with ``commit(_:)`` or ``discard()``.
///
/// Nothing of it is durable before it is published: ``UploadAppending/checkpoint()`` returns 0, and
/// ``UploadAppending/end(_:)`` keeps the bytes for ``commit(_:)`` only with ``UploadEnding/finished``. Once it has
/// ended, every call throws ``StoreError/notFound``, or the failure that ended it.
public protocol TransientUpload: UploadAppending {
  /// Ends the request, checks the received bytes, and publishes them. Returns when the bundle and its record would
  /// survive a power cut. If it throws, nothing of the upload remains.
  func commit(_ attachment: Attachment) async throws(StoreError) -> Publication
}

extension TransientUpload {
  /// Removes the received bytes. Has no effect after ``commit(_:)`` or an earlier call.
  public func discard() async {
    do { _ = try await end(.discarded) } catch {
      // The upload has ended before, with an error that the caller has received.
    }
  }
}

/// How the body of a request ended.
public enum UploadEnding: Sendable, Hashable, CaseIterable {
  /// All bytes arrived and are correct.
  case finished
  /// The body broke off. The received bytes count, unless the request stated a digest.
  case broken
  /// The bytes are incorrect. Only bytes that were made durable before count.
  case discarded
}

extension UploadLimits {
  /// Throws ``UploadError/tooManyOpen(limit:)`` if one more upload with `terms` would exceed a limit among `sessions`:
  /// in total, for its owner, or for its address.
  public func requireRoom(
    for terms: UploadTerms, among sessions: some Sequence<UploadSession>
  ) throws(UploadError) {
    var (all, ofOwner, fromAddress) = (0, 0, 0)
    for session in sessions where session.outcome == nil {
      all += 1
      if session.terms.owner == terms.owner { ofOwner += 1 }
      if let address = terms.address, session.terms.address == address { fromAddress += 1 }
    }
    guard all < open else { throw .tooManyOpen(limit: open) }
    guard ofOwner < openPerOwner else { throw .tooManyOpen(limit: openPerOwner) }
    guard fromAddress < openPerAddress else { throw .tooManyOpen(limit: openPerAddress) }
  }

  /// The ended uploads among `sessions` that exceed the number to keep.
  public func forgotten(among sessions: some Sequence<UploadSession>) -> [UploadID] {
    let ended = sessions.filter { $0.outcome != nil }
    guard ended.count > remembered else { return [] }
    return ended.sorted { $0.progress.touchedAt < $1.progress.touchedAt }.prefix(ended.count - remembered)
      .map(\.id)
  }
}

extension UploadError {
  /// Runs `body`, and wraps the store's error.
  public static func storing<Value>(
    _ body: () throws(StoreError) -> Value
  ) throws(UploadError) -> Value {
    do { return try body() } catch { throw .store(error) }
  }

  /// Runs `body`, and wraps the store's error.
  public static func storing<Value>(
    _ body: () async throws(StoreError) -> Value
  ) async throws(UploadError) -> Value {
    do { return try await body() } catch { throw .store(error) }
  }

  /// Runs `body`, and wraps the system's error.
  package static func writing<Value>(
    _ body: () throws(SystemError) -> Value
  ) throws(UploadError) -> Value {
    try storing { () throws(StoreError) in try StoreError.disk(body) }
  }
}
