public import Foundation
public import HTTPTransport
import HTTPTypes
import SnapshotFormat

#if os(Linux)
  import CurlTransport
#else
  import URLSessionTransport
#endif

/// Talks to a snapshot server: attaches bundles to bug reports, fetches, lists and deletes them.
///
/// Safe to be used from many tasks at once. Every call stops at once, back-off included, when its task is
/// cancelled. Nothing of it ever prints or logs the token.
public struct SnapshotAPIClient: Sendable {
  /// What may be set.
  public struct Configuration: Sendable {
    /// How long to wait for what.
    public var timeouts = TransportTimeouts()
    /// What is tried again, and when.
    public var retries = RetryPolicy()
    /// Which uploads can be gone on with, and in what pieces they go out.
    public var resumption = ResumptionPolicy()
    /// What is taken and given at most.
    public var limits = ClientLimits()
    /// Whether the token may go to another machine over plain `http`.
    public var allowsInsecureToken = false
    /// What the client calls itself.
    public var userAgent = "data-snapshots/1"
    /// Time and chance.
    public var environment = ClientEnvironment()

    /// The defaults above.
    public init() {}
  }

  /// Told how far a transfer is, on any thread, some ten times a second; to return quickly. Of an upload that can be gone
  /// on with (``ResumptionPolicy``) it counts what the server says to have; of another one what was sent, and a repeat
  /// starts over.
  public typealias ProgressHandler = @Sendable (TransportProgress) -> Void

  let address: ServerAddress
  let transport: any Transport
  private(set) var configuration: Configuration
  let disk = DiskQueue()
  private let token: BearerToken?

  /// A client of the server whose API stands under `server`, such as `https://snapshots.example.org`.
  ///
  /// Throws ``SnapshotClientError/Code/invalidServer`` for anything but an `http` or `https` URL with a host,
  /// ``SnapshotClientError/Code/invalidToken`` for a token that is not visible ASCII, and
  /// ``SnapshotClientError/Code/insecureToken`` where the token would go over plain `http` to another machine and
  /// ``Configuration/allowsInsecureToken`` is off.
  public init(
    server: URL, token: String? = nil, transport: any Transport = SnapshotAPIClient.makeDefaultTransport(),
    configuration: Configuration = .init()
  ) throws(SnapshotClientError) {
    address = try ServerAddress(server)
    if let token {
      self.token = try BearerToken(token, limit: configuration.limits.tokenBytes)
      guard !address.isInsecure || configuration.allowsInsecureToken else {
        throw SnapshotClientError(.insecureToken, "\(address.description) is another machine without TLS")
      }
    } else {
      self.token = nil
    }
    self.transport = transport
    self.configuration = configuration
  }

  /// The platform's transport: libcurl on Linux, `URLSession` elsewhere.
  public static func makeDefaultTransport() -> any Transport {
    #if os(Linux)
      CurlTransport()
    #else
      URLSessionTransport()
    #endif
  }

  /// Makes a request once, with the fields that every request has.
  func send(
    _ request: HTTPRequest, body: TransportBody = .none, destination: TransportDestination? = nil,
    events: (@Sendable (TransportEvent) -> Void)? = nil
  ) async -> Result<TransportResponse, TransportError> {
    var request = request
    request.headerFields[.userAgent] = configuration.userAgent
    if request.headerFields[.accept] == nil {
      request.headerFields[.accept] = "application/json, application/problem+json"
    }
    if let token { request.headerFields.append(token.field) }
    do {
      return .success(
        try await transport.send(
          request, body: body, destination: destination ?? .memory(limit: configuration.limits.answerBytes),
          timeouts: configuration.timeouts, events: events))
    } catch {
      return .failure(error)
    }
  }

  /// Makes a request until it succeeds, or until the policy says that it is not to be repeated. A status of
  /// `successWhenRepeated` is what a request gets that was done before, and its answer lost.
  func perform(
    _ request: HTTPRequest, body: TransportBody = .none, progress: ProgressHandler? = nil,
    successWhenRepeated: Set<Int> = []
  ) async throws(SnapshotClientError) -> TransportResponse {
    var retries = makeRetries()
    let events = progress.map(Self.events)
    var accepted: Set<Int> = []
    while true {
      switch await send(request, body: body, events: events) {
      case .success(let response)
      where response.head.status.kind == .successful || accepted.contains(response.head.status.code):
        return response
      case .success(let response):
        try await retries.pause(
          after: SnapshotClientError(response, now: configuration.environment.now()),
          if: configuration.retries.allowsRepeating(request.method, after: response.head.status))
      case .failure(let error):
        try await retries.pause(
          after: SnapshotClientError(error),
          if: configuration.retries.allowsRepeating(request.method, after: error))
      }
      accepted = successWhenRepeated
    }
  }

  /// The same client for a caller that repeats what failed itself.
  func withoutRetries() -> Self {
    var client = self
    client.configuration.retries.attempts = 1
    return client
  }

  func makeRetries() -> Retries { Retries(configuration.retries, in: configuration.environment) }

  static func events(_ progress: @escaping ProgressHandler) -> @Sendable (TransportEvent) -> Void {
    { event in
      if case .progress(let state) = event { progress(state) }
    }
  }

  /// Reads an answer's JSON.
  func decode<Value: Decodable>(
    _ type: Value.Type, from response: TransportResponse
  ) throws(SnapshotClientError) -> Value {
    do {
      return try SnapshotJSON.decode(type, from: response.body)
    } catch {
      throw SnapshotClientError(
        .unexpectedAnswer, "it is not the JSON that was expected", status: response.head.status.code,
        cause: error)
    }
  }
}
