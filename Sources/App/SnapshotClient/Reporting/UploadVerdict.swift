/// What an upload's failure means for it: the one place where that is decided.
enum UploadVerdict: Hashable {
  /// It may pass later.
  case retry
  /// It may pass with another token.
  case needsToken
  /// It will never pass.
  case giveUp

  init(_ error: SnapshotClientError) {
    guard let status = error.status else {
      self = [.invalidRequest, .bundleDamaged].contains(error.code) ? .giveUp : .retry
      return
    }
    self =
      switch status {
      case 401, 403, 407: .needsToken
      // What answers so is a wrong address, a proxy or an old server as often as the server itself, or says «not
      // now» (RFC 9110 §15.5.9, §15.5.20; RFC 6585 §4; RFC 8470 §5.2).
      case 404, 405, 408, 421, 425, 429: .retry
      // The digest that went along was that of the queued bundle: the bytes were damaged on the way.
      case 400 where error.problem?.type.hasSuffix("digest-mismatch") == true: .retry
      case 400...499: .giveUp
      default: .retry
      }
  }
}

extension SnapshotClientError {
  /// Whether it would have come for any other upload too, so that none needs to be tried until this one may.
  static func concernsServer(_ code: Code) -> Bool {
    [.connectionFailed, .rateLimited, .unavailable].contains(code)
  }

  /// Whether it may be gone with another network.
  static func concernsConnection(_ failure: QueuedUpload.Failure) -> Bool {
    failure.status == nil && [.connectionFailed, .interrupted, .timedOut].contains(failure.code)
  }
}
