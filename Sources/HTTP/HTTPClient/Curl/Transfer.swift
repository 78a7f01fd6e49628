#if canImport(CCurl)
  import CCurl
  import HTTPTypes
  import SystemIO

  /// A request that libcurl is executing.
  ///
  /// - Invariant: after submission, everything except ``isCancelled`` is accessed only on the loop's queue, where
  ///   libcurl also calls back. This makes `@unchecked Sendable` correct.
  final class Transfer: @unchecked Sendable {
    typealias Outcome = Result<TransportResponse, TransportError>

    let request: CheckedRequest
    let timeouts: TransportTimeouts
    let trust: ServerTrust
    /// Where to connect; `nil` for an address of the URL's host.
    let address: SocketAddress?
    let isCancelled = Lock(false)
    /// Called once, with the outcome. Set it before submission.
    var completion: ((Outcome) -> Void)?

    private let body: TransportBody
    private let destination: TransportDestination
    private let events: (@Sendable (TransportEvent) -> Void)?
    private var limit: ExchangeDeadline
    private var handle: EasyHandle?
    private var source: BodySource?
    private var receiver: ResponseReceiver?
    private var headParser = ResponseHeadParser()
    private var uploadMeter: ProgressMeter
    /// Whether a connection was established and the request was about to be sent.
    private var hasBegun = false
    /// The error with which a callback stopped libcurl.
    private var failure: TransportError?

    init(
      request: CheckedRequest, body: TransportBody, destination: TransportDestination,
      timeouts: TransportTimeouts, trust: ServerTrust, address: SocketAddress? = nil,
      events: (@Sendable (TransportEvent) -> Void)?
    ) {
      self.request = request
      self.body = body
      self.destination = destination
      self.timeouts = timeouts
      self.trust = trust
      self.address = address
      self.events = events
      limit = ExchangeDeadline(timeouts)
      uploadMeter = ProgressMeter(uploadAnsweredTo: destination, events)
    }

    /// Opens the files and creates the handle, which this object owns.
    func prepare() throws(TransportError) -> UnsafeMutableRawPointer {
      let source = try BodySource(body)
      self.source = source
      receiver = try ResponseReceiver(
        method: request.request.method, destination: destination, events: events)
      let handle = try EasyHandle(for: self, bodyLength: source.length)
      self.handle = handle
      return handle.pointer
    }

    /// Releases all resources and calls the completion.
    func complete(_ outcome: Outcome) {
      handle = nil
      source = nil
      receiver = nil
      completion?(outcome)
      completion = nil
    }

    // MARK: Deadlines

    /// When to call ``reasonToStop(at:)`` again.
    var deadline: ContinuousClock.Instant { limit.instant ?? .now + .seconds(60) }

    /// The reason to stop the transfer now, or `nil`.
    func reasonToStop(at now: ContinuousClock.Instant) -> TransportError? {
      if isCancelled.value { return .cancelled }
      return deadline <= now ? .timedOut : nil
    }

    // MARK: Callbacks of libcurl

    func connectionStands() {
      hasBegun = true
      limit.moved()
    }

    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
      limit.moved()
      // After a complete response the server needs no more of the body, but libcurl would continue to send it.
      if receiver?.isComplete == true { return Int(CURL_READFUNC_ABORT) }
      return attempt(elseReturn: Int(CURL_READFUNC_ABORT)) { () throws(TransportError) in
        let count = try source?.read(into: buffer) ?? 0
        if let source, let length = source.length { uploadMeter.move(to: source.offset, of: length) }
        return count
      }
    }

    /// Rewinds the body when libcurl repeats a request because a reused connection turned out to be closed. Refuses
    /// this for parts of an upload: the client must first ask the server how many bytes it has.
    func seek(to offset: Int64) -> Bool {
      request.request.method.isIdempotent && source?.seek(to: offset) ?? false
    }

    func takeHeadLine(_ line: UnsafeRawBufferPointer) -> Bool {
      limit.moved()
      return attempt(elseReturn: false) { () throws(TransportError) in
        guard let head = try headParser.take(line) else { return true }
        if head.status.kind == .informational {
          events?(.informational(head))
        } else {
          limit.bodyBegins()
          try receiver?.begin(head)
        }
        return true
      }
    }

    func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
      limit.bodyMoved(bytes.count)
      return attempt(elseReturn: false) { () throws(TransportError) in
        try receiver?.take(bytes)
        return true
      }
    }

    private func attempt<Value>(
      elseReturn stop: Value, _ work: () throws(TransportError) -> Value
    ) -> Value {
      do {
        return try work()
      } catch {
        failure = failure ?? error
        return stop
      }
    }

    // MARK: The end

    /// Converts libcurl's result.
    func outcome(of code: CURLcode) -> Outcome {
      if let failure { return .failure(failure) }
      // An error after a complete response, such as a failure to send the rest of a refused upload, does not invalidate
      // the response.
      if code == CURLE_OK || receiver?.isComplete == true {
        do throws(TransportError) {
          guard let response = try receiver?.finish() else { throw .interrupted("no response") }
          uploadMeter.finish()
          return .success(response)
        } catch {
          return .failure(error)
        }
      }
      let text = handle?.message(for: code) ?? ""
      switch code {
      case CURLE_URL_MALFORMAT where !hasBegun, CURLE_UNSUPPORTED_PROTOCOL where !hasBegun:
        return .failure(.invalidRequest(text))
      case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_ISSUER_ERROR:
        return .failure(.untrusted(text))
      // OpenSSL's words for the answer of a server that does not begin TLS.
      case CURLE_SSL_CONNECT_ERROR
      where text.contains("wrong version number") || text.contains("packet length too long"):
        return .failure(.connectionFailed("\(request.authority.text) does not speak HTTPS; try http://"))
      case CURLE_OPERATION_TIMEDOUT where !hasBegun:
        return .failure(
          .connectionFailed("no connection to \(request.authority.text) in \(timeouts.connect) s"))
      case CURLE_OPERATION_TIMEDOUT:
        return .failure(.timedOut)
      default:
        return .failure(hasBegun ? .interrupted(text) : .connectionFailed(text))
      }
    }
  }
#endif
