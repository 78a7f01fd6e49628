import Dispatch
public import Foundation
import HTTPSemantics
public import HTTPClient
import HTTPTypes
import SnapshotFormat
import SystemIO

/// A client of a snapshot server, which attaches bundles to bug reports, and fetches, lists and deletes them.
///
/// It can be used from many tasks at once. When its task is cancelled, a call ends immediately, even while it waits for
/// a retry. The token is never printed or logged.
public struct SnapshotAPIClient: Sendable {
  /// Options with default values.
  public struct Configuration: Sendable {
    /// The timeouts of requests.
    public var timeouts = TransportTimeouts()
    /// The policy for retries.
    public var retries = RetryPolicy()
    /// The policy for resumable uploads.
    public var resumption = ResumptionPolicy()
    /// The limits on sizes and counts.
    public var limits = ClientLimits()
    /// Whether the token can be sent to another machine over unencrypted `http`.
    public var allowsInsecureToken = false
    /// The value of the `User-Agent` field.
    public var userAgent = "data-snapshots/1"
    /// The sources of time and randomness.
    public var environment = ClientEnvironment()

    /// Creates a configuration with the default values.
    public init() {}
  }

  /// Called with the progress of a transfer, on any thread, about ten times a second. It must return quickly. For a
  /// resumable upload (``ResumptionPolicy``), it receives the number of bytes that the server has stored; for other
  /// uploads, the number of bytes sent, which starts again with each retry.
  public typealias ProgressHandler = @Sendable (TransportProgress) -> Void

  let address: ServerAddress
  private(set) var transport: any Transport
  private(set) var configuration: Configuration
  let disk = DiskQueue()
  private let token: BearerToken?

  /// Creates a client for the API at `server`, such as `https://snapshots.example.org`.
  ///
  /// Throws ``SnapshotClientError/Code/invalidServer`` if `server` is not an `http` or `https` URL with a host,
  /// ``SnapshotClientError/Code/invalidToken`` if the token is not visible ASCII, and
  /// ``SnapshotClientError/Code/insecureToken`` if the token would be sent unencrypted to another machine and
  /// ``Configuration/allowsInsecureToken`` is false.
  public init(
    server: URL, token: String? = nil, transport: any Transport = SnapshotAPIClient.makeDefaultTransport(),
    configuration: Configuration = .init()
  ) throws(SnapshotClientError) {
    address = try ServerAddress(server)
    if let token {
      self.token = try BearerToken(token, limit: configuration.limits.tokenBytes)
      guard !address.isInsecure || configuration.allowsInsecureToken else {
        throw SnapshotClientError(
          .insecureToken, "\(address.description) is not this machine and does not use TLS")
      }
    } else {
      self.token = nil
    }
    self.transport = transport
    self.configuration = configuration
  }

  /// Creates a client of a server that is recognized by its public key alone, such as one with a self-signed
  /// certificate.
  ///
  /// Throws the errors of the other initializer, and ``SnapshotClientError/Code/invalidServer`` if `server` is no `https`
  /// URL.
  public init(
    server: URL, token: String? = nil, pin: ServerPin, configuration: Configuration = .init()
  ) throws(SnapshotClientError) {
    guard server.scheme?.lowercased() == "https" else {
      throw SnapshotClientError(.invalidServer, "a pin needs an address that starts with https://")
    }
    try self.init(
      server: server, token: token, transport: Self.makeDefaultTransport(trust: .pinned(pin)),
      configuration: configuration)
  }

  /// Creates the platform's transport: libcurl on Linux, `URLSession` elsewhere.
  /// - Parameter trust: how servers are recognized.
  public static func makeDefaultTransport(trust: ServerTrust = .system) -> any Transport {
    SystemTransport(trust: trust)
  }

  /// Sends a request once, with the header fields common to all requests.
  func send(
    _ request: HTTPRequest, body: TransportBody = .none, destination: TransportDestination? = nil,
    sendsToken: Bool = true, events: (@Sendable (TransportEvent) -> Void)? = nil
  ) async -> Result<TransportResponse, TransportError> {
    var request = request
    request.headerFields[.userAgent] = configuration.userAgent
    if request.headerFields[.accept] == nil {
      request.headerFields[.accept] = "application/json, application/problem+json"
    }
    if sendsToken, let token { request.headerFields.append(token.field) }
    do {
      return .success(
        try await transport.send(
          request, body: body, destination: destination ?? .memory(limit: configuration.limits.answerBytes),
          timeouts: configuration.timeouts, events: events))
    } catch {
      return .failure(error)
    }
  }

  /// Sends a request until it succeeds, or until the policy does not allow a retry. A problem of the server with a status
  /// in `successWhenRepeated` counts as success after the first attempt, which can have succeeded although its response
  /// was lost.
  func perform(
    _ request: HTTPRequest, body: TransportBody = .none, progress: ProgressHandler? = nil,
    successWhenRepeated: Set<Int> = []
  ) async throws(SnapshotClientError) -> TransportResponse {
    var retries = makeRetries()
    let events = progress.map(Self.events)
    var accepted: Set<Int> = []
    while true {
      switch await send(request, body: body, events: events) {
      case .success(let response) where response.head.status.kind == .successful:
        return response
      case .success(let response):
        let error = failure(response)
        if !error.isForeign, accepted.contains(response.head.status.code) { return response }
        try await retries.pause(
          after: error, if: configuration.retries.allowsRepeating(request.method, after: response.head.status)
        )
      case .failure(let error):
        try await retries.pause(
          after: SnapshotClientError(error),
          if: configuration.retries.allowsRepeating(request.method, after: error))
      }
      accepted = successWhenRepeated
    }
  }

  /// The same client for a queue, which retries itself. Its exchanges break off in time for the queue to go on within a
  /// minute when a connection has silently ended, for example because the machine slept and has a new address.
  func forQueue() -> Self {
    var client = self
    client.configuration.retries.attempts = 1
    client.configuration.timeouts.idle = min(configuration.timeouts.idle, UploadQueue.longestIdle)
    return client
  }

  /// The same client with another transport, which gets bundles of any size in pieces of `pieceBytes` bytes.
  func sending(through transport: any Transport, pieceBytes: Int64) -> Self {
    var client = self
    client.transport = transport
    client.configuration.resumption.threshold = 0
    client.configuration.resumption.pieceBytes = pieceBytes
    return client
  }

  func makeRetries() -> Retries { Retries(configuration.retries, in: configuration.environment) }

  /// The error for a response that is no success; `hint` as in ``SnapshotClientError/init(_:from:now:hint:)``.
  func failure(_ response: TransportResponse, hint: String? = nil) -> SnapshotClientError {
    SnapshotClientError(response, from: address, now: configuration.environment.now(), hint: hint)
  }

  /// The error for a success that does not have the contents of a snapshot server's.
  func contradiction(in response: TransportResponse, cause: (any Error)? = nil) -> SnapshotClientError {
    let type = response.head.headerFields[.contentType].flatMap { MediaType($0) }?.essence
    let isJSON = type.map { $0.hasSuffix("json") } ?? true
    return SnapshotClientError(
      .unexpectedAnswer,
      isJSON ? "its JSON does not have the expected form" : ForeignAnswer(success: response).description,
      status: response.head.status.code, isForeign: true, cause: cause)
  }

  static func events(_ progress: @escaping ProgressHandler) -> @Sendable (TransportEvent) -> Void {
    { event in
      if case .progress(let state) = event { progress(state) }
    }
  }

  /// Decodes the JSON of a response.
  func decode<Value: Decodable>(
    _ type: Value.Type, from response: TransportResponse
  ) throws(SnapshotClientError) -> Value {
    do {
      return try SnapshotJSON.decode(type, from: response.body)
    } catch {
      throw contradiction(in: response, cause: error)
    }
  }
}

/// Runs blocking disk operations on a dispatch queue, so that they do not block the threads of Swift tasks.
struct DiskQueue: Sendable {
  private let queue = DispatchQueue(label: "snapshot.disk")

  /// Runs `work`. Its argument returns whether the task has been cancelled.
  func run<Value: Sendable>(
    _ work: @escaping @Sendable (_ isCancelled: () -> Bool) throws(SnapshotClientError) -> Value
  ) async throws(SnapshotClientError) -> Value {
    let isCancelled = Lock(false)
    let result = await withTaskCancellationHandler {
      await queue.perform { Result { () throws(SnapshotClientError) in try work { isCancelled.value } } }
    } onCancel: {
      isCancelled.set(true)
    }
    return try result.get()
  }
}
