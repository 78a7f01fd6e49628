import HTTPTypes
import SystemIO

extension Connection {
  /// How much is read at once where a head is expected: room for many small requests, but little of a body, since what
  /// comes behind a head is copied.
  private static let headReadSize = 16 * 1024

  /// Begins to wait for a request, some of which may have come already.
  func waitForRequest() {
    phase = .head
    // Whoever asked for an answer and got it at once goes on from there: many requests that come together make no deep
    // stack.
    if !isAnswering { beginRequests() }
  }

  /// Begins with the requests that have come, as long as they are answered at once, and waits for the next one.
  private func beginRequests() {
    while phase == .head, !input.isEmpty {
      if round == loop.round, begunInRound >= limits.pipelinedRequests { return awaitTurn() }
      guard beginRequest() else {
        // A client that has ended its side gets answers to what it sent before.
        if inputHasEnded { return close() }
        setReadDeadline(loop.now + limits.headTime.milliseconds)
        return setInterest(reading: true)
      }
    }
    guard phase == .head else { return }
    if inputHasEnded || loop.isStopping {
      close()
    } else {
      setReadDeadline(loop.now + loop.context.idleMilliseconds)
      setInterest(reading: true)
    }
  }

  /// Reads what has come of a head. Whole heads are parsed where they were read, so that only parts of heads and
  /// what follows them are ever kept.
  func readHead() {
    let room = UnsafeMutableRawBufferPointer(rebasing: loop.scratch[..<Self.headReadSize])
    let count: Int
    do {
      guard let received = try socket.receive(into: room) else { return }
      count = received
    } catch {
      return close()
    }
    // The end between two requests, or within a head: there is nothing to answer.
    guard count > 0 else { return close() }
    let received = UnsafeRawBufferPointer(rebasing: room[..<count])
    guard input.isEmpty else {
      input.append(received)
      if beginRequest() { beginRequests() }
      return
    }
    var parser = RequestParser(limits: limits)
    switch parser.parse(received) {
    case .complete(let head):
      if head.length < count { input.append(UnsafeRawBufferPointer(rebasing: received[head.length...])) }
      begin(head, makeHead(head, UnsafeRawBufferPointer(rebasing: received[..<head.length])))
      beginRequests()
    case .incomplete:
      input.append(received)
      self.parser = parser
      setReadDeadline(loop.now + limits.headTime.milliseconds)
    case .refused(let refusal):
      refuse(refusal)
    }
  }

  /// Begins with the request whose head stands in `input`, unless part of it is still to come.
  /// - Returns: whether all of the head was there, or enough to refuse it.
  private func beginRequest() -> Bool {
    var parser = self.parser ?? RequestParser(limits: limits)
    self.parser = nil
    switch input.withUnsafeBytes({ parser.parse($0) }) {
    case .complete(let head):
      let request = input.withUnsafeBytes {
        makeHead(head, UnsafeRawBufferPointer(rebasing: $0[..<head.length]))
      }
      input.removeFirst(head.length)
      begin(head, request)
    case .incomplete:
      self.parser = parser
      return false
    case .refused(let refusal):
      refuse(refusal)
    }
    return true
  }

  private func makeHead(_ head: RequestHead, _ bytes: UnsafeRawBufferPointer) -> ReceivedHead {
    ReceivedHead(bytes, facts: head, peer: peer, number: loop.makeRequestNumber())
  }

  private func begin(_ head: RequestHead, _ received: ReceivedHead) {
    phase = .request
    requestCount += 1
    if round != loop.round { (round, begunInRound) = (loop.round, 0) }
    begunInRound += 1
    closesAfterResponse = !head.keepsAlive || requestCount >= limits.requestsPerConnection || loop.isStopping
    exchange.begin(head, received, isReported: loop.context.reportsExchanges)
    setReadDeadline(DeadlineTable.none)

    if head.framing != .length(0) { body = IncomingBody(head.framing, connection: self) }
    if head.hasUnknownExpectation { return refuse(.expectationFailed) }
    if case .length(let length) = head.framing, length > limits.bodyBytes {
      return refuse(.bodyTooLarge(limit: limits.bodyBytes))
    }
    if client == nil, !admitForwarded(received) { return decline(.tooManyRequests) }
    let request = HTTPServerRequest(
      received, on: self, forwardedPeer: exchange.forwardedPeer,
      body: body?.forHandler(head.framing) ?? .empty)
    answer(request, number: received.number)
  }

  /// Finds out whom a trusted proxy brings the request from, and whether that client may have one more.
  private func admitForwarded(_ head: ReceivedHead) -> Bool {
    let client = loop.context.proxies.client(of: head.headerFields, from: peer)
    exchange.forwardedPeer = client.name
    guard let counted = client.counted else { return true }
    guard loop.context.budget.admitRequest(of: counted) else { return false }
    exchange.counted = counted
    return true
  }

  /// Answers in the engine's own name and closes.
  func refuse(_ refusal: Refusal) {
    if phase == .head {
      phase = .request
      exchange.number = loop.makeRequestNumber()
      exchange.isReported = loop.context.reportsExchanges
      if exchange.isReported { exchange.began = SystemClock.monotonicNanoseconds }
    }
    setReadDeadline(DeadlineTable.none)
    closesAfterResponse = true
    decline(refusal)
  }

  /// Answers in the engine's own name; the connection goes on if it can.
  private func decline(_ refusal: Refusal) {
    writeAtOnce(refusal.problem.response(requestID: exchange.id))
  }

  /// Reads and drops what is left of a body, once the response is out.
  func drainBody() {
    // None is left where the connection was closed meanwhile.
    guard let body else { return }
    do throws(HTTPBodyError) {
      try dropInput(of: body)
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

  /// Reads and drops what has come of a body that nobody wants, as long as that may cost less than a new connection.
  func dropInput(of body: IncomingBody) throws(HTTPBodyError) {
    while !body.reader.isComplete, body.isSmall {
      if input.isEmpty {
        let room = UnsafeMutableRawBufferPointer(
          rebasing: loop.scratch[..<body.reader.take(atMost: loop.scratch.count)])
        let count: Int
        do throws(SystemError) {
          guard let received = try socket.receive(into: room) else { return }
          count = received
        } catch {
          throw .disconnected
        }
        if count == 0 {
          inputHasEnded = true
          throw .disconnected
        }
        input.append(UnsafeRawBufferPointer(rebasing: room[..<count]))
      }
      let consumed = try input.withUnsafeBytes { bytes throws(HTTPBodyError) in
        try body.reader.read(bytes, into: loop.scratch).consumed
      }
      input.removeFirst(consumed)
    }
  }
}
