package import Foundation
import HTTPSemantics
package import HTTPClient
import HTTPTypes

/// A client of an S3-compatible object store, for the objects of one bucket below one prefix.
///
/// Keys are relative to the prefix. Requests that fail temporarily are repeated with random delays, as
/// ``S3Configuration/retries`` limits. If the store refuses the time of a request, this and all later ones are signed with
/// the store's time. Cancelling a task ends its request. Thread-safe.
package final class S3Client: Sendable {
  /// The bucket, and how requests are sent.
  package let configuration: S3Configuration
  private let credentials: CredentialSource
  private let transport: any Transport
  private let clock: StoreClock
  /// What the client needs of its surroundings.
  package let environment: S3Environment

  /// Creates a client. Sends nothing.
  package convenience init(
    _ configuration: S3Configuration, credentials: CredentialSource, transport: any Transport,
    environment: S3Environment = S3Environment()
  ) {
    self.init(configuration, credentials, transport, StoreClock(environment), environment)
  }

  private init(
    _ configuration: S3Configuration, _ credentials: CredentialSource, _ transport: any Transport,
    _ clock: StoreClock, _ environment: S3Environment
  ) {
    self.configuration = configuration
    self.credentials = credentials
    self.transport = transport
    self.clock = clock
    self.environment = environment
  }

  /// A client with another configuration, which shares everything else with this one.
  package func changing(_ change: (inout S3Configuration) -> Void) -> S3Client {
    var configuration = configuration
    change(&configuration)
    return S3Client(configuration, credentials, transport, clock, environment)
  }

  /// The time of this system, or the store's if the store has refused a request for its time.
  package var time: Date { clock.time }

  /// Sends a request until it succeeds, fails for good, or has failed too often.
  func send(
    _ request: S3Request, to destination: TransportDestination = .memory(limit: S3Limits.documentBytes)
  ) async throws(S3Error) -> TransportResponse {
    var attempt = 1
    while true {
      do {
        return try await sendOnce(request, to: destination)
      } catch {
        guard attempt < configuration.retries.attempts, request.allowsRepeating(after: error) else {
          throw error
        }
        let delay = configuration.retries.delay(afterAttempt: attempt, random: environment.random())
        do { try await environment.sleep(.seconds(delay)) } catch { throw .transport(.cancelled) }
        attempt += 1
      }
    }
  }

  private func sendOnce(
    _ request: S3Request, to destination: TransportDestination
  ) async throws(S3Error) -> TransportResponse {
    let time = clock.time
    var response = try await send(request, to: destination, signedAt: time)
    if clock.correct(by: response.head, signedAt: time) {
      response = try await send(request, to: destination, signedAt: clock.time)
    }
    guard response.head.status.kind == .successful else { throw .refused(S3Refusal(response)) }
    return response
  }

  private func send(
    _ request: S3Request, to destination: TransportDestination, signedAt time: Date
  ) async throws(S3Error) -> TransportResponse {
    let signed = RequestSigner(
      credentials: try await credentials.credentials(over: transport, at: time), region: configuration.region
    )
    .signed(try message(of: request), bodyDigest: request.body.digest, at: time)
    do {
      return try await transport.send(
        signed, body: request.body.content, destination: destination, timeouts: configuration.timeouts,
        events: nil)
    } catch {
      throw .transport(error)
    }
  }

  /// A URL with which anybody can read an object for a limited time.
  /// - Parameters:
  ///   - key: the key of the object.
  ///   - lifetime: how long the URL is valid, in seconds, 1 to ``S3Limits/presignedLifetime``.
  ///   - fields: fields that the response shall have instead of the object's, by the names of the parameters, such as
  ///     `response-content-disposition`.
  package func presignedURL(
    _ key: String, lifetime: Int, fields: [String: String] = [:]
  ) async throws(S3Error) -> String {
    guard (1...S3Limits.presignedLifetime).contains(lifetime) else {
      throw .invalidRequest("the lifetime is not between 1 and \(S3Limits.presignedLifetime) seconds")
    }
    let request = S3Request(.get, key, query: fields.map { ($0.key, $0.value) })
    let time = clock.time
    let target = RequestSigner(
      credentials: try await credentials.credentials(over: transport, at: time), region: configuration.region
    ).presigned(try message(of: request), lifetime: lifetime, at: time)
    return "\(configuration.scheme)://\(configuration.authority)\(target)"
  }

  private func message(of request: S3Request) throws(S3Error) -> HTTPRequest {
    var path = configuration.base
    if let key = request.key {
      let key = configuration.prefix + key
      guard !key.isEmpty, key.utf8.count <= S3Limits.keyBytes else {
        throw .invalidRequest("a key is empty or longer than \(S3Limits.keyBytes) bytes")
      }
      path += S3Encoding.encodePath(key)
    }
    let query = request.query.map { (S3Encoding.encode($0.0), S3Encoding.encode($0.1)) }
    return HTTPRequest(
      method: request.method, scheme: configuration.scheme, authority: configuration.authority,
      path: S3Target(path: path, query: query).sorted.description, headerFields: request.fields)
  }
}

/// What a client needs of its surroundings, replaceable in tests.
package struct S3Environment: Sendable {
  /// The time of day.
  package var now: @Sendable () -> Date
  /// Waits. Throws if the task is cancelled.
  package var sleep: @Sendable (Duration) async throws -> Void
  /// A random number in 0..<1.
  package var random: @Sendable () -> Double
  /// Called when the store has refused the time of a request, with the number of seconds by which the store's clock is
  /// ahead.
  package var onClockCorrection: @Sendable (_ seconds: Double) -> Void

  /// Creates an environment; by default, that of the system.
  package init(
    now: @escaping @Sendable () -> Date = { Date() },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    random: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
    onClockCorrection: @escaping @Sendable (_ seconds: Double) -> Void = { _ in }
  ) {
    self.now = now
    self.sleep = sleep
    self.random = random
    self.onClockCorrection = onClockCorrection
  }
}

/// One request to the bucket or to an object in it.
struct S3Request {
  var method: HTTPRequest.Method
  /// The key without the client's prefix; `nil` for the bucket.
  var key: String?
  /// Names and values, not encoded.
  var query: [(String, String)]
  var fields: HTTPFields
  var body: S3Body
  /// Whether the request has a condition that its own success makes false.
  var isConditional = false

  init(
    _ method: HTTPRequest.Method, _ key: String?, query: [(String, String)] = [], fields: HTTPFields = [:],
    body: S3Body = .none
  ) {
    self.method = method
    self.key = key
    self.query = query
    self.fields = fields
    self.body = body
  }

  /// Whether the request can be sent again. A conditional one is not if it possibly was executed: the caller has to
  /// read what the key holds now.
  func allowsRepeating(after error: S3Error) -> Bool {
    guard error.isTemporary else { return false }
    guard isConditional else { return true }
    switch error {
    // The store did not begin to execute these.
    case .refused(let refusal): return refusal.status == 503 || refusal.status == 429 || refusal.isConflict
    default: return !error.isUndecided
    }
  }
}

extension S3Refusal {
  init(_ response: TransportResponse) {
    let document: XMLElement?
    do { document = try XMLElement(document: response.body) } catch { document = nil }
    let name = HTTPField.Name.constant("x-amz-request-id")
    // The security token service has one element more.
    let error = document?.first("Error") ?? document
    self.init(
      status: response.head.status.code, code: Self.shortened(error?["Code"] ?? ""),
      message: Self.shortened(error?["Message"] ?? ""),
      requestID: (document?["RequestId"] ?? response.head.headerFields[name]).map(Self.shortened))
  }

  /// Control characters could forge lines of a log.
  private static func shortened(_ text: String) -> String {
    String(
      text.prefix(S3Limits.errorTextLength).unicodeScalars
        .map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
  }
}
