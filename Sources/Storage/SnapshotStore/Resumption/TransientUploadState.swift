package import Foundation

/// The state of an upload that consists of one request. It is a pure value and does no I/O.
package struct TransientUploadState: Sendable {
  /// `nil` once the upload has ended.
  private var session: UploadSession?
  private var append: UploadAppend

  /// Begins an upload, as ``TransientUploadStore/beginTransientUpload(_:limit:expecting:)`` specifies.
  package init(_ terms: UploadTerms, limit: Int64, limits: UploadLimits, at now: Date) throws(UploadError) {
    let (session, append) = try UploadSession.transient(terms, limit: limit, limits: limits, at: now)
    self.session = session
    self.append = append
  }

  /// Whether the upload has not ended yet.
  package var isOpen: Bool { session != nil }

  /// Counts `count` more bytes. Throws, and counts none of them, if they exceed a limit or the upload has ended.
  package mutating func receive(_ count: Int) throws(UploadError) {
    guard isOpen else { throw .store(.notFound) }
    try append.receive(count)
  }

  /// Ends the request: the upload now has all of its bytes, and can be committed.
  package mutating func finish(at now: Date) throws(UploadError) -> UploadSession {
    guard var session else { throw .store(.notFound) }
    session.advance(to: append.end, at: now)
    try session.finish(append, at: now)
    self.session = session
    return session
  }

  /// Ends the upload without its bytes.
  package mutating func discard() throws(UploadError) -> UploadSession {
    guard let session = session.take() else { throw .store(.notFound) }
    return session
  }

  /// Ends the upload in order to publish it. Throws ``StoreError/notFound`` if it has ended before.
  package mutating func commit(at now: Date) throws(StoreError) {
    defer { session = nil }
    // The request completes its upload and states no length, so the length can't be inconsistent.
    do throws(UploadError) { _ = try finish(at: now) } catch { throw .notFound }
  }
}
