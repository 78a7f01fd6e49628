import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Answers one request: with a recording, or with the server's response, which it records.
final class ExchangeLoader: Sendable {
  /// A request that was sent, and its response. A redirect begins another one.
  struct Hop {
    let request: URLRequest
    let body: Data
    let startedAt: Date
    let start = ContinuousClock.now
    var latest = ContinuousClock.now
    var response: HTTPURLResponse?
    var responseAfter: Int?
    /// The request that follows a redirect, or that the app refused.
    var redirect: Manifest.Exchange.Redirect?

    mutating func receive(_ response: HTTPURLResponse) {
      latest = .now
      self.response = response
      responseAfter = milliseconds(to: latest)
    }

    func milliseconds(to end: ContinuousClock.Instant) -> Int {
      let (seconds, attoseconds) = (end - start).components
      return Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
    }
  }

  private struct State {
    /// The task that sends the request.
    var task: URLSessionTask?
    var hop: Hop?
    /// The body of the request as it is sent.
    var sent: RequestBody?
    /// The body of the response, or its beginning.
    var received = Data()
    /// The size of the response's body.
    var size = 0
    var redirects = 0
    /// Whether the task was cancelled, so that the client must not be called.
    var isStopped = false
  }

  /// The maximum number of redirects, as in URLSession.
  private static let redirectLimit = 20

  let client: LoadingClient
  let binding: SessionBinding
  let mode: SnapshotMode
  private let state = Lock(State())

  init(_ owner: SnapshotURLProtocol, _ binding: SessionBinding, _ mode: SnapshotMode) {
    client = LoadingClient(owner)
    self.binding = binding
    self.mode = mode
  }

  /// Begins to answer the request. Called once, by the session.
  func start() {
    binding.session.perform { [self] in
      if startForeign() { return }
      let request = client.request
      RequestBody.read(of: request, limit: binding.rules.requestBodyLimit) { [self] body in
        answer(request, body)
      }
    }
  }

  /// Cancels the request. Called by the session.
  func stop() {
    client.stop()
    let task = state.withLock { state in
      state.isStopped = true
      return state.task
    }
    binding.session.perform { task?.cancel() }
  }

  /// Finds the recording of `request` while replaying, or sends it.
  func answer(_ request: URLRequest, _ body: RequestBody) {
    let (mode, rules) = (mode, binding.rules)
    let identify: @Sendable () -> String = { Self.identifier(of: request, body.data, mode, rules) }
    mode.replayExchange(identify, body: body.data) { [self] answer in
      switch answer {
      case .live: send(request, body)
      case .recorded(let exchange, let data): replay(exchange, data, request, body)
      case .failed(let error): client.fail(error)
      }
    }
  }

  static func identifier(
    of request: URLRequest, _ body: Data, _ mode: SnapshotMode, _ rules: ExchangeRules
  ) -> String {
    mode.identifier(
      method: request.httpMethod ?? "GET", url: request.url ?? URL(filePath: "/"), body: body, rules)
  }

  // MARK: - Sending

  private func send(_ request: URLRequest, _ body: RequestBody) {
    var request = request
    if body.isStream {
      if !body.isTooLarge, client.task?.originalRequest?.httpBodyStream == nil {
        // The app gave the data or a file, so its length is sent as it would be without this class.
        request.httpBody = body.data
      } else {
        request.httpBodyStream = body.makeStream()
        let length = client.task?.countOfBytesExpectedToSend ?? 0
        if length > 0 { request.setValue("\(length)", forHTTPHeaderField: "Content-Length") }
      }
    }
    state.withLock { state in
      state.sent = body
      state.hop = Hop(request: request, body: body.data, startedAt: mode.recordingTime)
    }
    guard let task = binding.session.makeTask(request, self) else {
      return client.fail(URLError(.cancelled))
    }
    let isStopped = state.withLock { state in
      state.task = task
      return state.isStopped
    }
    isStopped ? task.cancel() : task.resume()
  }

  /// The body of the request once more, after a redirect or an authentication.
  func makeBodyStream() -> InputStream? { state.withLock { $0.sent }.map { $0.makeStream() } }

  func redirect(
    _ response: HTTPURLResponse, _ request: URLRequest, in session: URLSession,
    _ completion: @escaping @Sendable (URLRequest?) -> Void
  ) {
    client.redirect(response, request, in: session) { [self] chosen in
      if let chosen {
        follow(response, chosen)
      } else {
        state.withLock { $0.hop?.redirect = Self.redirect(to: request) }
      }
      completion(chosen)
    } isRestarted: { [self] in
      // The client makes another protocol for the new request.
      follow(response, request)
      completion(nil)
      let task = state.withLock { state in
        state.hop = nil
        return state.task
      }
      task?.cancel()
    }
  }

  /// Records a redirect, and begins the exchange that follows.
  private func follow(_ response: HTTPURLResponse, _ request: URLRequest) {
    let former = state.withLock { state in
      var former = state.hop
      former?.receive(response)
      former?.redirect = Self.redirect(to: request)
      let keepsBody = request.httpMethod == former?.request.httpMethod
      state.hop = Hop(
        request: request, body: keepsBody ? former?.body ?? Data() : Data(), startedAt: mode.recordingTime)
      return former
    }
    if let former { record(former, Data(), size: 0) }
  }

  private static func redirect(to request: URLRequest) -> Manifest.Exchange.Redirect {
    .init(method: request.httpMethod ?? "GET", url: text(of: request.url))
  }

  func authenticate(
    _ challenge: URLAuthenticationChallenge, in session: URLSession,
    _ completion:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    client.authenticate(challenge, in: session, completion)
  }

  // MARK: - Receiving

  func receive(_ response: URLResponse) {
    state.withLock { state in
      if let response = response as? HTTPURLResponse { state.hop?.receive(response) }
    }
    client.receive(response)
  }

  func receive(_ data: Data) {
    state.withLock { state in
      state.size += data.count
      state.hop?.latest = .now
      if state.size <= binding.rules.bodyLimit {
        state.received += data
      } else {
        state.received = Data()
      }
    }
    client.receive(data)
  }

  func complete(_ error: (any Error)?) {
    let end = state.withLock { state in
      state.task = nil
      return state
    }
    // Without one, the client was redirected.
    guard var hop = end.hop else { return }
    var failure = (error as NSError?).map { Manifest.Exchange.Failure(domain: $0.domain, code: $0.code) }
    if failure != nil, end.isStopped {
      // A session with its own timer stops the protocol when it ends, and tells it no reason.
      let isLate = ContinuousClock.now - hop.latest >= .seconds(hop.request.timeoutInterval * 0.99)
      let code: URLError.Code = isLate ? .timedOut : .cancelled
      failure = Manifest.Exchange.Failure(domain: NSURLErrorDomain, code: code.rawValue)
    }
    hop.latest = .now
    // Before the client learns of it, so that a snapshot that it makes then has the exchange.
    record(hop, end.received, size: end.size, failure: failure)
    client.finish(error)
  }

  private func record(
    _ hop: Hop, _ body: Data, size: Int, failure: Manifest.Exchange.Failure? = nil
  ) {
    let rules = binding.rules
    guard let url = hop.request.url else { return }
    let limits = [
      ("request", hop.body.count, rules.requestBodyLimit), ("response", size, rules.bodyLimit),
    ]
    for (name, count, limit) in limits where count > limit {
      return mode.refuseExchange(
        Self.identifier(of: hop.request, Data(), mode, rules), .tooLarge, bytes: count,
        "the body of the \(name) has more than \(limit) bytes")
    }
    var exchange = Manifest.Exchange(
      request: .init(
        method: (hop.request.httpMethod ?? "GET").uppercased(), url: Self.text(of: url),
        fields: Self.fields(hop.request.allHTTPHeaderFields ?? [:])),
      redirect: hop.redirect, failure: failure, startedAt: hop.startedAt, responseAfter: hop.responseAfter,
      duration: hop.milliseconds(to: .now))
    if let response = hop.response {
      exchange.response = .init(status: response.statusCode, fields: Self.fields(response.allHeaderFields))
    }
    mode.record(
      CompletedExchange(StoredExchange(exchange, requestBody: hop.body), body: body), url: url, rules)
  }

  /// The fields in the order of their names.
  private static func fields(_ fields: [AnyHashable: Any]) -> [Manifest.Exchange.Field] {
    fields.map { Manifest.Exchange.Field("\($0.key)", "\($0.value)") }.sorted { $0.name < $1.name }
  }

  /// The URL without a user's name and password.
  private static func text(of url: URL?) -> String {
    guard let url, var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "" }
    parts.user = nil
    parts.password = nil
    return parts.string ?? ""
  }

  // MARK: - Replaying

  func replay(
    _ exchange: Manifest.Exchange?, _ data: Data, _ request: URLRequest, _ body: RequestBody
  ) {
    guard let url = request.url else { return client.fail(URLError(.badURL)) }
    let recorded =
      exchange
      ?? Manifest.Exchange(
        request: .init(method: "GET", url: ""), response: .init(status: 200), startedAt: .distantPast)
    let response = recorded.response.flatMap { Self.response(to: url, $0, size: data.count) }
    let answer: @Sendable () -> Void = { [client] in
      if let response { client.receive(response) }
      if !data.isEmpty { client.receive(data) }
      client.finish(recorded.failure.map { Self.error($0, url) })
    }
    guard let response, let next = recorded.redirect.flatMap({ Self.request($0, after: request) }),
      let session = binding.session.session
    else { return answer() }
    client.redirect(response, next, in: session) { [self] chosen in
      guard let chosen else { return answer() }
      let count = state.withLock { state in
        state.redirects += 1
        return state.redirects
      }
      guard count <= Self.redirectLimit else { return client.fail(URLError(.httpTooManyRedirects)) }
      self.answer(chosen, chosen.httpMethod == request.httpMethod ? body : .none)
    } isRestarted: {
    }
  }

  private static func request(
    _ redirect: Manifest.Exchange.Redirect, after request: URLRequest
  ) -> URLRequest? {
    guard let url = URL(string: redirect.url) else { return nil }
    var next = request
    next.url = url
    if redirect.method != request.httpMethod {
      next.httpMethod = redirect.method
      next.httpBody = nil
    }
    return next
  }

  private static func response(
    to url: URL, _ recorded: Manifest.Exchange.Response, size: Int
  ) -> HTTPURLResponse? {
    var fields: [String: String] = [:]
    for field in recorded.fields {
      fields[field.name] = fields[field.name].map { $0 + ", " + field.value } ?? field.value
    }
    #if canImport(FoundationNetworking)
      // With this field, the session would authenticate and send the request again.
      if recorded.status == 401 { fields = fields.filter { $0.key.lowercased() != "www-authenticate" } }
    #endif
    return HTTPURLResponse(
      url: url, statusCode: recorded.status(seenWith: size), httpVersion: "HTTP/1.1", headerFields: fields)
  }

  private static func error(_ failure: Manifest.Exchange.Failure, _ url: URL) -> any Error {
    let details = [NSURLErrorFailingURLErrorKey: url as Any]
    guard failure.domain == NSURLErrorDomain else {
      return NSError(domain: failure.domain, code: failure.code, userInfo: details)
    }
    // Apple's initializer does not return an optional.
    let code: URLError.Code? = URLError.Code(rawValue: failure.code)
    return URLError(code ?? .unknown, userInfo: details)
  }
}
