/// Classifies the failure of an upload. All such decisions are made here.
enum UploadVerdict: Hashable {
  /// A later attempt can succeed.
  case retry
  /// An attempt with another token can succeed.
  case needsToken
  /// No attempt can succeed.
  case giveUp

  init(_ error: SnapshotClientError) {
    guard let status = error.status else {
      self = [.invalidRequest, .bundleDamaged].contains(error.code) ? .giveUp : .retry
      return
    }
    self =
      switch status {
      case 401, 403, 407: .needsToken
      // These statuses often come from a wrong address, a proxy or an old server, or mean "not now" (RFC 9110 §15.5.9,
      // §15.5.20; RFC 6585 §4; RFC 8470 §5.2).
      case 404, 405, 408, 421, 425, 429: .retry
      // The digest was that of the queued bundle, so the bytes were damaged in transit.
      case 400 where error.problem?.type.hasSuffix("digest-mismatch") == true: .retry
      case 400...499: .giveUp
      default: .retry
      }
  }
}

extension SnapshotClientError {
  /// Whether other uploads would fail as well, so that none is started until this one can be retried.
  static func concernsServer(_ code: Code) -> Bool {
    [.connectionFailed, .untrustedServer, .rateLimited, .unavailable].contains(code)
  }

  /// Whether another network can resolve the failure.
  static func concernsConnection(_ failure: QueuedUpload.Failure) -> Bool {
    failure.status == nil
      && [.connectionFailed, .untrustedServer, .interrupted, .timedOut].contains(failure.code)
  }
}
