import SnapshotClient

/// Why a command ends without its result: one sentence that names the thing and the mend.
struct CommandFailure: Error, CustomStringConvertible {
  /// How the process ends (0 is success, 64 is wrong usage and ArgumentParser's to say).
  enum Status: Int32, Sendable {
    /// Something did not work.
    case failed = 1
    /// The input was refused, or did not verify.
    case refused = 2
  }

  let description: String
  let status: Status

  init(_ description: String, status: Status = .failed) {
    self.description = description
    self.status = status
  }
}

extension CommandFailure {
  /// What the client says, told apart by whether the input was refused or something did not work.
  init(_ error: SnapshotClientError) {
    let refusals: Set<SnapshotClientError.Code> = [
      .invalidServer, .invalidToken, .insecureToken, .invalidRequest, .digestMismatch, .conflict,
      .bundleTooLarge,
      .refused,
    ]
    self.init(error.description, status: refusals.contains(error.code) ? .refused : .failed)
  }
}
