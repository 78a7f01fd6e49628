import Logging
import SystemIO

/// One client's connection: decides, on what has come and what could be sent, what to do next.
///
/// One request at a time: while one runs, the next ones wait in `input` and in the kernel, and so their answers go
/// out in order.
///
/// - Invariant: everything here is touched on its loop's thread alone. That is what makes `@unchecked Sendable` true.
final class Connection: @unchecked Sendable {
  private enum Phase {
    /// Between requests, or while a head is coming in.
    case head
    /// From a head's last byte to the response's.
    case request
    /// The response is out; the rest of a small body that nobody wanted is coming in.
    case draining
    /// Nothing more will be sent; what still comes is dropped, so that the client sees the response.
    case lingering
    case closed
  }

  let loop: EventLoop
  let socket: Socket
  /// The address that it counts as; `nil` for a trusted proxy's, whose requests count as their clients'.
  let client: IPAddress?
  /// Whether the connection counts against the limits; the others are told 503.
  let isAdmitted: Bool
  let input: ConnectionInput
  let output: ConnectionOutput
  private let peer: SocketAddress

  private var phase = Phase.head
  private var requestCount = 0
  /// The loop's round in which requests were last begun, and how many of them.
  private var round: UInt64 = 0
  private var begunInRound = 0
  /// Whether the connection could go on, but lets others have their turn first.
  private var awaitsTurn = false

  /// The request that runs and its response; `nil` between requests.
  private var exchange: Exchange?
  /// Whether a request that has just begun is being declined: the caller goes on with the next one.
  private var isDeclining = false

  private var readDeadline = DeadlineTable.none
  /// What the poller looks for. While a request runs it may go on looking for bytes: only if some come is it told to
  /// stop, which saves two system calls per request.
  private var interest: Poller.Interest = []

  private var limits: HTTPLimits { loop.context.limits }

  init(socket: Socket, peer: SocketAddress, client: IPAddress?, isAdmitted: Bool, loop: EventLoop) {
    self.socket = socket
    self.peer = peer
    self.client = client
    self.isAdmitted = isAdmitted
    self.loop = loop
    input = ConnectionInput(socket: socket, peer: peer, loop: loop)
    output = ConnectionOutput(socket: socket, loop: loop)
  }

  func start() {
    guard isAdmitted else { return refuse(.tooManyConnections) }
    waitForRequest()
  }

  // MARK: Events

  func becameReadable() {
    switch phase {
    // What has come before comes first.
    case .head: if awaitsTurn { setInterest(reading: false) } else { readHead() }
    case .request: if let body = exchange?.body, body.wantsBytes { body.receive() } else { watchClient() }
    case .draining: drainBody()
    case .lingering: dropInput()
    case .closed: break
    }
  }

  func becameWritable() {
    // Who waits to send has its turn in order, however often the poller tells.
    guard output.isBlocked, !awaitsTurn else { return }
    if loop.turns.hasSenders || loop.turns.sendingLeft <= 0 { awaitTurn() } else { exchange?.send() }
  }

  /// Others had theirs: the connection goes on where it stopped.
  func takeTurn() {
    awaitsTurn = false
    switch phase {
    case .head: waitForRequest()
    case .request: if !output.isEmpty { exchange?.send() }
    case .draining, .lingering, .closed: break
    }
  }

  /// Lets others have their turn.
  func awaitTurn() {
    guard !awaitsTurn else { return }
    awaitsTurn = true
    if phase == .request { loop.turns.append(sender: self) } else { loop.turns.append(parser: self) }
  }

  func deadlinePassed() {
    if output.deadline <= loop.now, !output.renewDeadline() { return close() }
    guard readDeadline <= loop.now else { return updateDeadline() }
    readDeadline = DeadlineTable.none
    updateDeadline()
    switch phase {
    case .head: if input.isEmpty { closeUnlessRequested() } else { refuse(.headTooSlow) }
    case .request: exchange?.body?.deadlinePassed()
    case .draining, .lingering: close()
    case .closed: break
    }
  }

  /// Idle connections close; one that runs says so in its response.
  func serverIsStopping() {
    if phase == .head, input.isEmpty { closeUnlessRequested() }
  }

  /// Closes an idle connection, unless a request has come that the poller hasn't told of yet.
  private func closeUnlessRequested() {
    let formerCount = requestCount
    readHead()
    if requestCount == formerCount, phase == .head, input.isEmpty { close() }
  }

  /// What the client does while nothing is expected of it: it may send the next request, end its side, or be gone.
  private func watchClient() {
    do {
      // Whatever it is, it can wait: level-triggered readiness would report it without end.
      if try input.peek() { setInterest(reading: false) }
    } catch {
      close()
    }
  }

  // MARK: Waiting

  func setReadDeadline(_ deadline: UInt64) {
    readDeadline = deadline
    updateDeadline()
  }

  private func updateDeadline() {
    guard phase != .closed else { return }
    loop.setDeadline(min(readDeadline, output.deadline), for: socket.descriptor)
  }

  /// Registers what the connection waits for; cheap where nothing changes.
  func setInterest(reading: Bool) {
    guard phase != .closed else { return }
    var interest: Poller.Interest = reading && !input.hasEnded ? .read : []
    if output.isBlocked { interest.insert(.write) }
    guard interest != self.interest else { return }
    self.interest = interest
    do {
      try loop.setInterest(interest, for: socket.descriptor)
    } catch {
      loop.context.logger.error("connection: \(error)")
      close()
    }
  }

  /// Registers whether the connection waits for the client to take more.
  func updateWriting() {
    guard output.isBlocked || interest.contains(.write) else { return }
    updateDeadline()
    setInterest(reading: interest.contains(.read))
  }

  // MARK: Requests

  /// Begins to wait for a request, some of which may have come already.
  private func waitForRequest() {
    phase = .head
    // Requests that came together and are declined are answered in a loop, not in a deep stack.
    if !isDeclining { beginRequests() }
  }

  /// Begins with the requests that have come, until one has a task, and waits for the next one.
  private func beginRequests() {
    while phase == .head, !input.isEmpty {
      if round == loop.round, begunInRound >= limits.pipelinedRequests { return awaitTurn() }
      switch input.nextHead() {
      case .complete(let head, let received): begin(head, received)
      case .refused(let refusal): refuse(refusal)
      case .incomplete, .ended:
        // A client that has ended its side gets answers to what it sent before.
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

  /// Reads what has come of a head, and begins with the request once all of it is there.
  private func readHead() {
    let isBeginning = input.isEmpty
    switch input.readHead() {
    case .complete(let head, let received):
      begin(head, received)
      beginRequests()
    case .incomplete: if isBeginning { setReadDeadline(loop.now + limits.headTime.milliseconds) }
    case .refused(let refusal): refuse(refusal)
    // The end between two requests, or within a head: there is nothing to answer.
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
    if client == nil, !exchange.admitForwarded(received, from: peer) {
      isDeclining = true
      exchange.decline(.tooManyRequests)
      isDeclining = false
      return
    }
    exchange.start(
      HTTPServerRequest(received, exchange, body: exchange.body?.forHandler(head.framing) ?? .empty))
  }

  /// Answers what is no request, in the engine's own name, and closes.
  private func refuse(_ refusal: Refusal) {
    phase = .request
    let exchange = Exchange(nil, on: self, closes: true)
    self.exchange = exchange
    exchange.refuse(refusal)
  }

  // MARK: Ending

  /// The whole response to the request is sent: the connection goes on, or ends.
  func responseIsSent() {
    guard let exchange else { return }
    if exchange.closesAfterResponse { return finishAndClose() }
    if let body = exchange.body, !body.reader.isComplete {
      // From here on the rest is nobody's.
      body.end()
      phase = .draining
      setReadDeadline(loop.now + limits.lingerTime.milliseconds)
      setInterest(reading: true)
      return drainBody()
    }
    endExchange(isComplete: true)
    waitForRequest()
  }

  /// Reads and drops what is left of a body, once the response is out.
  private func drainBody() {
    // None is left where the connection was closed meanwhile.
    guard let body = exchange?.body else { return }
    do throws(HTTPBodyError) {
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

  /// Closes when everything is sent: at once where the client has said all, else after it had time to read.
  private func finishAndClose() {
    let clientMaySend =
      !input.hasEnded
      && (exchange?.head == nil || !input.isEmpty || exchange?.body?.reader.isComplete == false)
    endExchange(isComplete: true)
    guard clientMaySend else { return close() }
    do {
      try socket.shutdownSending()
    } catch {
      return close()
    }
    phase = .lingering
    input.removeAll()
    setReadDeadline(loop.now + limits.lingerTime.milliseconds)
    setInterest(reading: true)
  }

  private func dropInput() {
    do {
      // A bounded number of times, so that a fast sender leaves time for others.
      for _ in 0..<4 {
        guard let count = try input.receive(into: loop.scratch) else { return }
        if count == 0 { return close() }
      }
    } catch {
      close()
    }
  }

  /// Closes at once. A handler that still runs is cancelled, one that waits for its body learns why.
  func close() {
    guard phase != .closed else { return }
    endExchange(isComplete: false)
    phase = .closed
    loop.remove(self)
    socket.close()
    output.discard()
  }

  /// Like ``close()``, but what the system has not sent yet is discarded.
  func reset() {
    do { try socket.resetOnClose() } catch { loop.context.logger.debug("connection: \(error)") }
    close()
  }

  /// Ends `exchange` and the connection, if its response is not sent yet; what is unsent is discarded.
  func abort(_ exchange: Exchange) {
    if phase == .request, exchange === self.exchange { reset() }
  }

  private func endExchange(isComplete: Bool) {
    let ended = exchange
    exchange = nil
    ended?.end(isComplete: isComplete, peer: peer)
  }
}
