/// The limits of requests to S3, and of what is accepted from it.
package enum S3Limits {
  /// The maximum length of a key in UTF-8, with the prefix. S3 has the same limit.
  package static let keyBytes = 1024
  /// The maximum number of objects or parts in one page of a list. S3 has the same limit.
  package static let pageLength = 1000
  /// The maximum size of an XML document in a response, in bytes.
  package static let documentBytes = 8 << 20
  /// The maximum size of an answer that is an error, in bytes.
  package static let errorBytes = 64 << 10
  /// The maximum number of elements that contain each other in an XML document.
  package static let documentDepth = 16
  /// The maximum length of an error's code, message and request id, in characters.
  package static let errorTextLength = 200
  /// The minimum size of all parts of an upload but the last, in bytes. S3 has the same limit.
  package static let minimumPartBytes: Int64 = 5 << 20
  /// How many parts of a file are uploaded at once.
  package static let concurrentParts = 4
  /// The maximum number of parts of an upload. S3 has the same limit.
  package static let parts = 10_000
  /// How many bytes of a file with credentials are read.
  package static let credentialsBytes = 64 << 10
  /// The difference to the store's clock up to which it is not the reason of a refusal, in seconds. S3 allows three times
  /// as much.
  static let clockTolerance: Double = 300
  /// The maximum number of attempts to prove that a store honours conditions.
  static let proofs = 5
  /// The rest of the lifetime of temporary credentials with which they are exchanged, in seconds.
  static let credentialsMargin: Double = 300
  /// How long valid credentials are used after an exchange failed, before the next one, in seconds.
  static let credentialsPause: Double = 30
  /// The maximum lifetime of a presigned URL, in seconds. S3 has the same limit.
  package static let presignedLifetime = 604_800
}

/// How often a request is repeated, and the delays between the attempts.
package struct S3Retries: Sendable, Hashable {
  /// The maximum number of attempts, at least 1.
  package var attempts = 5
  /// The maximum delay after the first attempt, in seconds. It doubles with each further attempt.
  package var base = 0.1
  /// The maximum delay, in seconds.
  package var cap: Double = 5

  /// Creates a policy with the default values.
  package init() {}

  /// The delay after attempt number `attempt`, starting at 1, in seconds; `random` is in 0..<1. Clients that failed
  /// together try again at different times, because the delay is a random part of the maximum (full jitter).
  package func delay(afterAttempt attempt: Int, random: Double) -> Double {
    var limit = base
    for _ in 1..<max(attempt, 1) where limit < cap { limit *= 2 }
    return random * min(limit, cap)
  }
}
