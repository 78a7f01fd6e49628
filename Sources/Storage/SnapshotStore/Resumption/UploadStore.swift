public import SystemIO

/// Keeps uploads that are still arriving, and publishes them as bundles of the same store.
///
/// The rules that every such store obeys, held to by one suite of tests:
/// - Whatever a session that was returned says survives a power cut; so no offset that was told is taken back.
/// - What came and was not told may be lost by a crash, never more.
/// - A session never says more than the limits let in, and neither does the disk hold more.
/// - An upload is published at most once, and its bytes are not copied for it, except those of parts that are joined.
///
/// The calls about one upload are made one after the other, which ``uploadSessions()`` need not heed.
public protocol UploadStore: Sendable {
  /// How much uploads take on.
  var uploadLimits: UploadLimits { get }

  /// Opens an upload. One that is joined from parts has all its bytes when this returns.
  func createUpload(_ terms: UploadTerms) async throws(UploadError) -> UploadSession
  /// How far an upload is; throws ``UploadError/unknown``.
  func uploadSession(_ id: UploadID) async throws(UploadError) -> UploadSession
  /// All of them, those that have ended and are remembered among them, in no order.
  func uploadSessions() async -> [UploadSession]
  /// Lets a request append, or throws what ``UploadSession/admit(_:bytes:limits:at:)`` says.
  func beginAppending(
    _ request: AppendRequest, bytes: Int64?, to id: UploadID
  ) async throws(UploadError) -> any UploadAppending
  /// Publishes a whole upload, as a commit publishes any, or refuses it; either ends it, and the session tells. One that
  /// has ended is left as it is. Throws ``UploadError/store(_:)`` where the bytes are not at fault, and it can be tried
  /// again.
  func commitUpload(_ id: UploadID, as attachment: Attachment) async throws(UploadError) -> UploadSession
  /// Forgets an upload and removes its bytes; what is published stays.
  func removeUpload(_ id: UploadID) async throws(UploadError)
}

/// The bytes of one request on their way into an upload. Used by one task at a time, and ended by it.
public protocol UploadAppending: Sendable {
  /// Takes the next bytes, in order. Where it throws none of them is taken, and those before still are.
  func write(_ bytes: IOBuffer) async throws(UploadError)
  /// Makes last what has come so far, as far as it counts already; answers the offset that may be told.
  func checkpoint() async throws(UploadError) -> Int64
  /// Makes last what counts, and ends the request; throws what ``UploadSession/finish(_:at:)`` says.
  func end(_ ending: UploadEnding) async throws(UploadError) -> UploadSession
}

/// How the bytes of a request ended.
public enum UploadEnding: Sendable, Hashable, CaseIterable {
  /// All came, and they are what they should be.
  case finished
  /// They broke off: those that came count, unless all of them had to come first.
  case broken
  /// They are not what they should be: none counts that was not made to last before.
  case discarded
}

extension UploadLimits {
  /// Throws where one more upload on `terms` would be too many among `sessions`: in all, of its owner, or from its
  /// address.
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

  /// Those of `sessions` that have ended and are no longer remembered.
  public func forgotten(among sessions: some Sequence<UploadSession>) -> [UploadID] {
    let ended = sessions.filter { $0.outcome != nil }
    guard ended.count > remembered else { return [] }
    return ended.sorted { $0.progress.touchedAt < $1.progress.touchedAt }.prefix(ended.count - remembered)
      .map(\.id)
  }
}

extension UploadError {
  /// Does what only the store may refuse.
  public static func storing<Value>(
    _ body: () throws(StoreError) -> Value
  ) throws(UploadError) -> Value {
    do throws(StoreError) { return try body() } catch { throw .store(error) }
  }

  /// Does what only the store may refuse.
  public static func storing<Value>(
    _ body: () async throws(StoreError) -> Value
  ) async throws(UploadError) -> Value {
    do throws(StoreError) { return try await body() } catch { throw .store(error) }
  }

  /// Does what only the disk may refuse.
  package static func writing<Value>(
    _ body: () throws(SystemError) -> Value
  ) throws(UploadError) -> Value {
    do throws(SystemError) { return try body() } catch { throw .store(StoreError(error)) }
  }
}
