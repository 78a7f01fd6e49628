package import SystemIO

/// A request without bytes to an upload that is complete: it asks for the outcome.
package struct OutcomeRequest: UploadAppending {
  private let append: UploadAppend
  private let session: UploadSession

  /// Creates the request as ``UploadSession/admit(_:bytes:limits:at:)`` admitted it.
  package init(_ append: UploadAppend, to session: UploadSession) {
    self.append = append
    self.session = session
  }

  /// Throws ``UploadError/completed`` for any bytes.
  package func write(_ bytes: IOBuffer) async throws(UploadError) {
    var append = append
    try append.receive(bytes.count)
  }

  /// Returns the offset, which does not change any more.
  package func checkpoint() async throws(UploadError) -> Int64 { session.offset }

  /// Returns the session.
  package func end(_ ending: UploadEnding) async throws(UploadError) -> UploadSession { session }
}
