import Logging
import SystemIO

/// The state machine of a client's connection. It decides on each event what to do next.
///
/// It processes one request at a time. Meanwhile, further requests wait in `input` and in the kernel, so responses are
/// sent in order.
///
/// - Invariant: accessed only on its loop's thread. This makes `@unchecked Sendable` correct.
final class Connection: @unchecked Sendable {
  private enum Phase {
    /// Before the first byte of the client, while the proxy says who that is.
    case proxyHeader
    /// Before the first request, while client and server agree on keys.
    case handshake
    /// Between requests, or while a head is being received.
    case head
    /// From a head's last byte to the response's last byte.
    case request
    /// The response was sent. The rest of a small body, which the handler did not read, is being received.
    case draining
    /// The server has ended its side. Received bytes are dropped, so that the client can read the response.
    case lingering
    case closed
  }

  let loop: EventLoop
  let channel: Channel
  /// The address by which the connection is counted. `nil` for trusted proxies, whose requests are counted by their
  /// clients, and if it is not known.
  private(set) var client: IPAddress?
  /// Whether the connection is within the limits. Other connections get the response 503.
  let isAdmitted: Bool
  let input: ConnectionInput
  let output: ConnectionOutput
  /// The certificate with which the client has proved its identity.
  private(set) var clientCertificate: ClientCertificate?
  /// The other end of the connection, or the client that a ``ProxyHeader`` names; `nil` for a Unix socket.
  private var peer: SocketAddress?
  /// The peer as text, made once for all requests.
  private(set) lazy var peerName = peer?.description ?? TrustedProxy.unix.description
  /// The peer's address; `nil` for a peer without one.
  var connectedAddress: IPAddress? { peer?.host }
  /// Whether the peer is a trusted proxy, which names the client in each request.
  private var isTrusted: Bool
  /// Whether the client that a ``ProxyHeader`` names has too many connections.
  private var exceedsClientLimit = false
  /// The received bytes of an incomplete ``ProxyHeader``.
  private var proxyHeader: [UInt8] = []

  private var phase = Phase.head
  private var requestCount = 0
  /// The loop's round in which requests were last started, and the number of those.
  private var round: UInt64 = 0
  private var begunInRound = 0
  /// Whether the connection could continue, but lets other connections continue first.
  private var awaitsTurn = false
  /// Whether the connection continues with the bytes that its session holds after other connections had their turn.
  private var awaitsReading = false

  /// The current request and its response; `nil` between requests.
  private var exchange: Exchange?
  /// Whether a new request is being declined. If so, the caller continues with the next request.
  private var isDeclining = false

  private var readDeadline = DeadlineTable.none
  /// The events that the poller reports. While a request is processed, reading stays enabled until bytes arrive, which
  /// saves two system calls per request.
  private var interest: Poller.Interest = []
  /// Whether bytes are wanted from the client.
  private var isReading = false
  /// Whether the poller has reported that the client has ended its side.
  private var endWasReported = false

  private var limits: HTTPLimits { loop.context.limits }

  init(
    channel: Channel, peer: SocketAddress?, isTrusted: Bool, client: IPAddress?, isAdmitted: Bool,
    loop: EventLoop
  ) {
    self.channel = channel
    self.peer = peer
    self.isTrusted = isTrusted
    self.client = client
    self.isAdmitted = isAdmitted
    self.loop = loop
    input = ConnectionInput(channel: channel, loop: loop)
    output = ConnectionOutput(channel: channel, loop: loop)
  }

  func start() {
    guard loop.context.expectsProxyHeader || channel.isSecure else { return beginServing() }
    setReadDeadline(loop.now + limits.handshakeTime.milliseconds)
    guard loop.context.expectsProxyHeader else { return beginHandshake() }
    phase = .proxyHeader
    setInterest(.read)
  }

  private func beginHandshake() {
    guard channel.isSecure else { return beginServing() }
    phase = .handshake
    setInterest(reading: true)
  }

  private func beginServing() {
    guard isAdmitted, !exceedsClientLimit else { return refuse(.tooManyConnections) }
    if loop.isStopping {
      // It was accepted before that, and its request can have arrived.
      phase = .head
      setInterest(reading: true)
      return closeUnlessRequested()
    }
    waitForRequest()
  }

  // MARK: Events

  func handle(_ event: Poller.Event) {
    let readiness = event.readiness
    if event.hasEnded { endWasReported = true }
    if phase == .proxyHeader { return readProxyHeader() }
    guard channel.isSecure else {
      if readiness.contains(.write) { becameWritable() }
      if readiness.contains(.read) { becameReadable() }
      if phase == .head { setInterest(reading: isReading) }
      return
    }
    if phase == .handshake { return shakeHandsInTurn() }
    // Either direction can depend on the other one.
    if !readiness.isDisjoint(with: channel.sendingAwaits) { becameWritable() }
    if isReading, !readiness.isDisjoint(with: channel.receivingAwaits) { becameReadable() }
    setInterest(reading: isReading)
  }

  private func becameReadable() {
    switch phase {
    case .proxyHeader, .handshake: break
    // Earlier input must be processed first.
    case .head: if awaitsTurn { setInterest(reading: false) } else { readHead() }
    case .request: if let body = exchange?.body, body.wantsBytes { body.receive() } else { watchClient() }
    case .draining: drainBody()
    case .lingering: dropInput()
    case .closed: break
    }
  }

  private func becameWritable() {
    // Blocked connections take turns, regardless of how often the poller reports them.
    guard output.isBlocked, !awaitsTurn else { return }
    if loop.turns.hasSenders || loop.turns.sendingLeft <= 0 { awaitTurn() } else { exchange?.send() }
  }

  /// Continues after other connections had their turn.
  func takeTurn() {
    awaitsTurn = false
    switch phase {
    case .handshake: shakeHands()
    case .head: waitForRequest()
    case .request: if !output.isEmpty { exchange?.send() }
    case .proxyHeader, .draining, .lingering, .closed: break
    }
  }

  /// Lets other connections continue first.
  func awaitTurn() {
    guard !awaitsTurn else { return }
    awaitsTurn = true
    switch phase {
    case .handshake: loop.turns.append(handshaker: self)
    case .request: loop.turns.append(sender: self)
    case .proxyHeader, .head, .draining, .lingering, .closed: loop.turns.append(parser: self)
    }
  }

  /// Continues with the bytes that the session holds, which the poller does not report.
  func readHeldBytes() {
    awaitsReading = false
    guard isReading else { return }
    becameReadable()
    setInterest(reading: isReading)
  }

  func deadlinePassed() {
    if output.deadline <= loop.now, !output.renewDeadline() { return close() }
    guard readDeadline <= loop.now else { return updateDeadline() }
    readDeadline = DeadlineTable.none
    updateDeadline()
    switch phase {
    case .proxyHeader: refuseProxy("The header did not arrive in time")
    case .handshake: close()
    case .head: if input.isEmpty { closeUnlessRequested() } else { refuse(.headTooSlow) }
    case .request: exchange?.body?.deadlinePassed()
    case .draining, .lingering: close()
    case .closed: break
    }
  }

  /// Closes the connection if it is idle. A running request's response gets `Connection: close`.
  func serverIsStopping() {
    if phase == .proxyHeader {
      readProxyHeader()
      if phase == .proxyHeader { return close() }
    }
    if phase == .handshake {
      shakeHands()
      if phase == .handshake { return close() }
    }
    guard phase == .head, input.isEmpty else { return }
    if loop.context.sharesListeners {
      // A request may be on its way. Closing the connection would make it fail.
      setReadDeadline(min(readDeadline, loop.now + limits.replacementTime.milliseconds))
    } else {
      closeUnlessRequested()
    }
  }

  /// Closes an idle connection, unless a request has arrived that the poller has not reported yet.
  private func closeUnlessRequested() {
    let formerCount = requestCount
    readHead()
    if requestCount == formerCount, phase == .head, input.isEmpty { close() }
  }

  /// Handles an event that was not expected: the client has sent its next request, ended its side or disconnected.
  private func watchClient() {
    do {
      // The event can wait, so reading is disabled. Level-triggered polling would report it continuously, and an
      // arrival is reported again only to an interest that is registered later.
      if try input.peek() { setInterest(reading: false) }
    } catch {
      close()
    }
  }

  // MARK: The header of a proxy

  /// Reads the header, and no byte after it: the session of the connection receives from the socket itself.
  private func readProxyHeader() {
    let held = proxyHeader.count
    let room = UnsafeMutableRawBufferPointer(rebasing: loop.scratch[..<(ProxyHeader.binaryLimit - held)])
    do {
      guard let count = try channel.socket.peek(into: room) else { return }
      // A load balancer that only examines whether the server listens sends nothing.
      guard count > 0 else { return held == 0 ? close() : refuseProxy("The header is not complete") }
      proxyHeader += room[..<count]
      switch ProxyHeader.parse(proxyHeader) {
      case .incomplete: try dropFromSocket(count)
      case .complete(let header):
        try dropFromSocket(header.length - held)
        proxyHeader = []
        use(header)
      case .malformed: refuseProxy("There is no valid header")
      }
    } catch {
      close()
    }
  }

  /// Receives bytes that were peeked at.
  private func dropFromSocket(_ count: Int) throws(SystemError) {
    let room = UnsafeMutableRawBufferPointer(rebasing: loop.scratch[..<count])
    guard try channel.socket.receive(into: room) == count else { throw .disconnected("recv") }
  }

  /// Continues with the client that the proxy names. If it names none, nothing in the requests is believed either: they
  /// can have passed the proxy unread.
  private func use(_ header: ProxyHeader) {
    isTrusted = false
    if let named = header.client {
      peer = named
      isTrusted = loop.context.proxies.contains(named.host)
      if !isTrusted, isAdmitted {
        if loop.context.budget.admitRequest(of: named.host.client) {
          client = named.host.client
        } else {
          exceedsClientLimit = true
        }
      }
    }
    beginHandshake()
  }

  private func refuseProxy(_ reason: String) {
    loop.warnOfProxy(reason, peer)
    close()
  }

  // MARK: The handshake

  /// Continues the handshake, after others that wait already. One can take a millisecond, and many of them must not
  /// delay the requests of other connections.
  private func shakeHandsInTurn() {
    guard !awaitsTurn else { return }
    if loop.turns.allowsHandshake { return shakeHands() }
    setInterest([])
    awaitTurn()
  }

  private func shakeHands() {
    guard let session = channel.session else { return }
    let began = SystemClock.monotonicNanoseconds
    let progress = session.shakeHands()
    loop.turns.handshakeTimeLeft -= Int64(SystemClock.monotonicNanoseconds - began)
    switch progress {
    case .done:
      clientCertificate = session.clientCertificate
      beginServing()
    case .awaits(let interest): setInterest(interest)
    case .isPlainHTTP:
      channel.dropSession()
      refuse(.notSecure)
    case .failed(let reason):
      loop.context.logger.debug("handshake failed", metadata: ["reason": "\(reason.escapedForLog)"])
      channel.dropSession()
      linger()
    }
  }

  // MARK: Waiting

  func setReadDeadline(_ deadline: UInt64) {
    readDeadline = deadline
    updateDeadline()
  }

  private func updateDeadline() {
    guard phase != .closed else { return }
    loop.setDeadline(min(readDeadline, output.deadline), for: channel.socket.descriptor)
  }

  /// Updates the poller's interest. Does nothing if it has not changed.
  func setInterest(reading: Bool) {
    guard phase != .closed else { return }
    isReading = reading
    var interest: Poller.Interest = reading && !input.hasEnded ? readingAwaits : []
    if output.isBlocked { interest.formUnion(channel.sendingAwaits) }
    if reading, channel.holdsBytes, !awaitsReading {
      awaitsReading = true
      loop.turns.append(reader: self)
    }
    setInterest(interest)
  }

  /// The event that lets reading continue. A head is awaited by its arrival, as long as everything that was reported has
  /// been received. The rest, such as a body, is received in pieces.
  private var readingAwaits: Poller.Interest {
    guard !channel.isSecure, phase == .head, !endWasReported, !input.filledRoom else {
      return channel.receivingAwaits
    }
    return .arrival
  }

  private func setInterest(_ interest: Poller.Interest) {
    guard interest != self.interest else { return }
    self.interest = interest
    do {
      try loop.setInterest(interest, for: channel.socket.descriptor)
    } catch {
      loop.context.logger.error("connection: \(error)")
      close()
    }
  }

  /// Updates whether the connection waits until the client can receive more.
  func updateWriting() {
    guard output.isBlocked || interest.contains(.write) else { return }
    updateDeadline()
    setInterest(reading: isReading)
  }

  // MARK: Requests

  /// Waits for a request. It may have been received already.
  private func waitForRequest() {
    phase = .head
    // Pipelined requests that are declined are handled in a loop instead of by recursion.
    if !isDeclining { beginRequests() }
  }

  /// Starts the received requests, until one awaits its response. Otherwise waits for the next request.
  private func beginRequests() {
    while phase == .head, !input.isEmpty {
      if round == loop.round, begunInRound >= limits.pipelinedRequests { return awaitTurn() }
      switch input.nextHead() {
      case .complete(let head, let received): begin(head, received)
      case .refused(let refusal): refuse(refusal)
      case .incomplete, .ended:
        // Requests that a client sent before it ended its side still get responses.
        if input.hasEnded { return close() }
        setReadDeadline(loop.now + limits.headTime.milliseconds)
        return setInterest(reading: true)
      }
    }
    guard phase == .head else { return }
    if input.hasEnded || loop.isStopping {
      close()
    } else {
      setReadDeadline(loop.now + loop.context.idleMilliseconds)
      setInterest(reading: true)
    }
  }

  /// Reads a head from the socket, and starts its request when the head is complete.
  private func readHead() {
    let isBeginning = input.isEmpty
    switch input.readHead() {
    case .complete(let head, let received):
      begin(head, received)
      beginRequests()
    case .incomplete: if isBeginning { setReadDeadline(loop.now + limits.headTime.milliseconds) }
    case .refused(let refusal): refuse(refusal)
    // The client ended the connection between two requests or within a head, so there is no request to respond to.
    case .ended: close()
    case nil: break
    }
  }

  private func begin(_ head: RequestHead, _ received: ReceivedHead) {
    phase = .request
    requestCount += 1
    if round != loop.round { (round, begunInRound) = (loop.round, 0) }
    begunInRound += 1
    let isLast = !head.keepsAlive || requestCount >= limits.requestsPerConnection || loop.isStopping
    let exchange = Exchange((head, received), on: self, closes: isLast)
    self.exchange = exchange
    setReadDeadline(DeadlineTable.none)

    if head.hasUnknownExpectation { return exchange.refuse(.expectationFailed) }
    if case .length(let length) = head.framing, length > limits.bodyBytes {
      return exchange.refuse(.bodyTooLarge(limit: limits.bodyBytes))
    }
    if isTrusted {
      do {
        try exchange.admitForwarded(received)
      } catch {
        isDeclining = true
        exchange.decline(error)
        isDeclining = false
        return
      }
    }
    let request = HTTPServerRequest(
      received, exchange, body: exchange.body?.forHandler(head.framing) ?? .empty)
    loop.call(HandlerCall(exchange: exchange, request: request))
  }

  /// Sends an error response from the engine, without calling the handler, and closes the connection.
  private func refuse(_ refusal: Refusal) {
    phase = .request
    let exchange = Exchange(nil, on: self, closes: true)
    self.exchange = exchange
    exchange.refuse(refusal)
  }

  // MARK: Ending

  /// Continues or closes the connection after the whole response was sent.
  func responseIsSent() {
    guard let exchange else { return }
    if exchange.closesAfterResponse { return finishAndClose() }
    if let body = exchange.body, !body.reader.isComplete {
      // The handler can't read the rest.
      body.end()
      phase = .draining
      setReadDeadline(loop.now + limits.lingerTime.milliseconds)
      setInterest(reading: true)
      return drainBody()
    }
    endExchange(isComplete: true)
    waitForRequest()
  }

  /// Reads and drops the rest of a body after the response was sent.
  private func drainBody() {
    // There is none if the connection was closed meanwhile.
    guard let body = exchange?.body else { return }
    do {
      try body.drop()
    } catch {
      return finishAndClose()
    }
    if body.reader.isComplete {
      endExchange(isComplete: true)
      waitForRequest()
    } else if !body.isSmall {
      finishAndClose()
    }
  }

  /// Closes the connection after everything was sent: immediately if the client has no more to send, otherwise after it
  /// had time to read the response.
  private func finishAndClose() {
    let clientMaySend =
      !input.hasEnded
      && (exchange?.head == nil || !input.isEmpty || exchange?.body?.reader.isComplete == false)
    endExchange(isComplete: true)
    if clientMaySend { linger() } else { close() }
  }

  /// Ends the server's side, and closes the connection when the client had time to read the response.
  private func linger() {
    do {
      try channel.shutdownSending()
    } catch {
      return close()
    }
    channel.dropSession()
    phase = .lingering
    input.removeAll()
    setReadDeadline(loop.now + limits.lingerTime.milliseconds)
    setInterest(reading: true)
  }

  private func dropInput() {
    do {
      // The number of reads is bounded, so that a fast sender does not block other connections.
      for _ in 0..<4 {
        guard let count = try channel.dropReceived() else { return }
        if count == 0 { return close() }
      }
    } catch {
      close()
    }
  }

  /// Closes the connection immediately. Cancels a running handler; one that waits for its body gets an error.
  func close() {
    guard phase != .closed else { return }
    // Without the session's end, the client can detect that a response is incomplete that lasts until the end.
    if exchange != nil { channel.dropSession() }
    endExchange(isComplete: false)
    phase = .closed
    loop.remove(self)
    channel.close()
    output.discard()
  }

  /// Like ``close()``, but also discards the data that the system has not sent yet.
  func reset() {
    channel.dropSession()
    do { try channel.socket.resetOnClose() } catch { loop.context.logger.debug("connection: \(error)") }
    close()
  }

  /// Resets the connection if `exchange` has not sent its whole response. Discards unsent data.
  func abort(_ exchange: Exchange) {
    if phase == .request, exchange === self.exchange { reset() }
  }

  private func endExchange(isComplete: Bool) {
    let ended = exchange
    exchange = nil
    ended?.end(isComplete: isComplete)
  }
}
