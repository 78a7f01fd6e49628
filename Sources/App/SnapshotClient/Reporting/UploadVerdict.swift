/// Classifies the failure of an upload. All such decisions are made here.
enum UploadVerdict: Hashable {
  /// A later attempt can succeed.
  case retry
  /// An attempt with another token can succeed.
  case needsToken
  /// No attempt can succeed.
  case giveUp

  /// How often the server itself may say that the address is wrong. With the default ``BackOff``, that takes half a day.
  static let maximumWrongAddresses = 20

  /// - Parameter repetitions: the number of attempts in succession that failed, if they had the same status.
  init(_ error: SnapshotClientError, repetitions: Int = 1) {
    guard let status = error.status else {
      self = [.invalidRequest, .bundleDamaged].contains(error.code) ? .giveUp : .retry
      return
    }
    self =
      switch status {
      // What is between client and server can change, like the network itself.
      case _ where error.isForeign: .retry
      case 401, 403, 407: .needsToken
      // The server has no such address, for example because a proxy changes the path.
      case 404, 405, 421: repetitions < Self.maximumWrongAddresses ? .retry : .giveUp
      // "Not now" (RFC 9110 §15.5.9; RFC 6585 §4; RFC 8470 §5.2).
      case 408, 425, 429: .retry
      // The digest was that of the queued bundle, so the bytes were damaged in transit.
      case 400 where error.problem?.isOf(kind: "digest-mismatch") == true: .retry
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

  /// Whether another network can resolve the failure: there was no response, or one of something on the way.
  static func concernsConnection(_ failure: QueuedUpload.Failure) -> Bool {
    failure.code == .unexpectedAnswer
      || failure.status == nil
        && [.connectionFailed, .untrustedServer, .interrupted, .timedOut].contains(failure.code)
  }
}
