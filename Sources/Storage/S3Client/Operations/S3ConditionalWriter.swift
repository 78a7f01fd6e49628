package import Foundation
import HTTPClient
import HTTPTypes

/// Writes an object on the condition that no other client has written it since it was read. If several clients write at
/// the same time, exactly one of them succeeds.
///
/// A writer exists only for a store that has proved to honour the conditions: some ignore them.
package struct S3ConditionalWriter: Sendable {
  /// How a conditional write ended.
  package enum Outcome: Sendable, Hashable {
    /// The object was written, and has this version.
    case written(S3ETag)
    /// It is unknown whether this request or another one has written the object: read it again. The error is the last
    /// answer. This is also the outcome of a condition that does not hold, because a proxy can repeat
    /// a request, and the repeated one fails because the first one succeeded.
    case undecided(S3Error)
  }

  private let client: S3Client
  /// Whether the store compares the field `If-Match` with the version in quotation marks, as RFC 9110 demands. Ceph's
  /// gateway compares it with the bare version.
  package let quotesVersions: Bool

  private init(client: S3Client, quotesVersions: Bool) {
    self.client = client
    self.quotesVersions = quotesVersions
  }

  /// Writes an object unless there is one. Throws if the request certainly had no effect.
  package func create(_ key: String, _ bytes: Data) async throws(S3Error) -> Outcome {
    try await write(key, bytes, [.ifNoneMatch: "*"])
  }

  /// Replaces an object if it still has the version `etag`. Throws if the request certainly had no effect.
  package func replace(_ key: String, _ bytes: Data, version etag: S3ETag) async throws(S3Error) -> Outcome {
    try await write(key, bytes, [.ifMatch: quotesVersions ? etag.quoted : etag.value])
  }

  private func write(_ key: String, _ bytes: Data, _ condition: HTTPFields) async throws(S3Error) -> Outcome {
    var request = S3Request(.put, key, fields: condition, body: S3Body(bytes))
    request.isConditional = true
    do {
      return .written(try S3ObjectInfo(try await client.send(request).head).etag)
    } catch {
      guard error.isUndecided || error.isFailedCondition else { throw error }
      return .undecided(error)
    }
  }
}

extension S3ConditionalWriter {
  /// Tries on a key of its own whether the store honours both conditions, and how it wants versions written. If the store
  /// fails temporarily, it is tried again with another key. Throws ``S3Error/unsuitableStore(_:)`` if it does not honour
  /// them.
  package static func proving(_ client: S3Client, scratch folder: String) async throws(S3Error) -> Self {
    var attempt = 1
    while true {
      do {
        return try await proveOnce(client, "\(folder)/\(UUID().uuidString.lowercased())")
      } catch {
        guard error.isTemporary, attempt < S3Limits.proofs else { throw error }
        attempt += 1
      }
    }
  }

  /// Tries it once, and removes the key.
  private static func proveOnce(_ client: S3Client, _ key: String) async throws(S3Error) -> Self {
    let proved: Result<Self, S3Error>
    do {
      proved = .success(try await prove(client, key))
    } catch {
      proved = .failure(error)
    }
    try await client.delete(key)
    return try proved.get()
  }

  private static func prove(_ client: S3Client, _ key: String) async throws(S3Error) -> Self {
    let (bare, quoting) = (
      Self(client: client, quotesVersions: false), Self(client: client, quotesVersions: true)
    )
    guard let first = try await bare.create(key, Data("1".utf8)).version() else {
      throw .unsuitableStore("it refuses If-None-Match for a new key")
    }
    guard try await bare.create(key, Data("2".utf8)).version() == nil else {
      throw .unsuitableStore("it ignores If-None-Match, so that one upload can replace another")
    }
    for writer in [quoting, bare] {
      guard try await writer.replace(key, Data("3".utf8), version: .never).version() == nil else {
        throw .unsuitableStore("it ignores If-Match, so that changes can be lost")
      }
    }
    for writer in [quoting, bare] {
      if try await writer.replace(key, Data("4".utf8), version: first).version() != nil { return writer }
    }
    throw .unsuitableStore("it refuses If-Match for the present version")
  }
}

extension S3ConditionalWriter.Outcome {
  /// The version that was written; `nil` if the condition did not hold. Throws if there was another reason.
  fileprivate func version() throws(S3Error) -> S3ETag? {
    switch self {
    case .written(let etag): return etag
    case .undecided(let error):
      guard error.isFailedCondition else { throw error }
      return nil
    }
  }
}

extension S3Error {
  /// Whether the store answered that a condition does not hold. AWS answers 404 if the object of `If-Match` is gone.
  fileprivate var isFailedCondition: Bool {
    guard case .refused(let refusal) = self else { return false }
    return refusal.status == 412 || refusal.status == 409
      || refusal.status == 404 && refusal.code == "NoSuchKey"
  }
}
