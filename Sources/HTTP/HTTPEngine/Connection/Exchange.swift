import HTTPTypes
import Logging
import Synchronization
import SystemIO

/// One request and its response, while they last.
///
/// Its handler's task writes to it, and not to the connection: once the exchange has ended, nothing more is written, so that
/// nothing of a response gets into another.
///
/// - Invariant: everything but constants, ``sendInterim(_:_:)``, ``perform(_:)``, and ``forwardedPeer``, which is set before
///   there is a task, is touched on the connection's loop alone. That is what makes `@unchecked Sendable` true.
final class Exchange: @unchecked Sendable {
  let connection: Connection
  let loop: EventLoop
  private let output: ConnectionOutput

  /// `nil` where the head was refused: then nobody knows where the request ends.
  let head: ReceivedHead?
  private let number: UInt64
  private let isHEAD: Bool
  private let minorVersion: Int
  /// The client that a trusted proxy names, and the address that the request counts as where that is known.
  private(set) var forwardedPeer: String?
  private var counted: IPAddress?
  /// The request's body; `nil` where it has none.
  private(set) var body: IncomingBody?
  private var task: Task<Void, Never>?
  /// Whether the client waits for `100 Continue`.
  private(set) var awaitsContinue: Bool
  private(set) var closesAfterResponse: Bool

  /// The response, while it waits for interim answers that the client has not taken yet.
  private var held: HTTPServerResponse?
  /// The status of the response; 0 until it has begun.
  private var status = 0
  private var framing = ResponseHead.Framing.none
  /// Whether all of the response is in the queue.
  private var isQueued = false
  /// Whether the client can't be told anything any more, while what it sent is still read.
  private var isUnheard = false
  private var hasEnded = false

  /// Nanoseconds on the monotonic clock at the beginning; `nil` where the exchange is not reported.
  private let began: UInt64?
  /// What the connection had sent before.
  private let sentBefore: Int64

  /// - Parameter head: what came; `nil` for a head that is refused.
  init(_ head: (facts: RequestHead, received: ReceivedHead)?, on connection: Connection, closes: Bool) {
    self.connection = connection
    loop = connection.loop
    output = connection.output
    self.head = head?.received
    number = head?.received.number ?? loop.makeRequestNumber()
    isHEAD = head?.received.method == .head
    minorVersion = head?.facts.minorVersion ?? 1
    awaitsContinue = head?.facts.expectsContinue ?? false
    closesAfterResponse = closes
    began = loop.context.reportsExchanges ? SystemClock.monotonicNanoseconds : nil
    sentBefore = output.bytesSent
    if let framing = head?.facts.framing, framing != .length(0) { body = IncomingBody(framing, of: self) }
  }

  // MARK: The request

  /// Finds out which client a trusted proxy forwards the request for, and whether that client may have one more.
  func admitForwarded(_ head: ReceivedHead, from peer: SocketAddress) -> Bool {
    let client = loop.context.proxies.client(of: head.headerFields, from: peer)
    forwardedPeer = client.name
    guard let counted = client.counted else { return true }
    guard loop.context.budget.admitRequest(of: counted) else { return false }
    self.counted = counted
    return true
  }

  /// Has the handler answer `request`, which is this exchange's.
  func start(_ request: HTTPServerRequest) { task = HandlerTask(exchange: self, request: request).start() }

  /// Answers `Expect: 100-continue`, unless the client has begun to send without waiting (RFC 9110 §10.1.1).
  func sendContinueIfAwaited() {
    guard awaitsContinue, !isQueued else { return }
    awaitsContinue = false
    guard connection.input.isEmpty, mayAnswerInterim else { return }
    loop.output.removeAll()
    loop.output.append(literal: "HTTP/1.1 100 Continue\r\n\r\n")
    sendBehindInterim()
  }

  /// The body is broken: no other request can follow on this connection.
  func bodyFailed() {
    closesAfterResponse = true
    connection.setInterest(reading: false)
  }

  // MARK: The response

  /// Whether the response is still being written.
  var isOpen: Bool { !hasEnded && !isQueued }

  /// Answers in the engine's own name and closes.
  func refuse(_ refusal: Refusal) {
    connection.setReadDeadline(DeadlineTable.none)
    closesAfterResponse = true
    decline(refusal)
  }

  /// Answers in the engine's own name; the connection goes on if it can.
  func decline(_ refusal: Refusal) {
    write(refusal.problem.response(requestID: head?.id ?? ReceivedHead.text(ofNumber: number)))
  }

  /// Sends the response, or the beginning of one that is a stream.
  func write(_ response: HTTPServerResponse) {
    guard isOpen else { return }
    if isUnheard { return connection.close() }
    // It goes out behind all interim answers; what is written first of a request is its answer.
    guard output.isEmpty else {
      if held == nil { held = response }
      return
    }
    if let body, !body.reader.isComplete, response.body.length != nil {
      if !body.judgeUnread() { return refuse(.brokenCoding) }
      if !body.isWorthDraining { closesAfterResponse = true }
    }
    var head = ResponseHead(
      response, isHEAD: isHEAD, minorVersion: minorVersion,
      keepsAlive: !closesAfterResponse && !loop.isStopping)
    do throws(ResponseHead.Unlawful) {
      try output.begin(response, &head)
    } catch {
      loop.context.logger.error("unlawful response", metadata: ["status": "\(response.status.code)"])
      return decline(.internalError)
    }
    closesAfterResponse = head.closes
    status = response.status.code
    framing = head.framing
    isQueued = true
    if head.sendsBody, case .stream = response.body { isQueued = false }
    goOn(after: output.sendBuffer())
  }

  /// Sends one piece of the stream that is being written.
  func writeStreamed(_ piece: [UInt8]) { goOn(after: output.sendStreamed(piece, framing)) }

  /// Sends the end of the stream that is being written.
  func endStream() {
    isQueued = true
    goOn(after: output.endStream(framing))
  }

  /// Ends the connection so that the client can't take what it has of a stream for the whole.
  func breakStream() {
    if framing == .untilClose { connection.reset() } else { connection.close() }
  }

  // MARK: Interim answers

  /// Whether an interim answer may go out: none once the final one has begun (RFC 9110 §15.2).
  private var mayAnswerInterim: Bool { isOpen && held == nil && status == 0 && !isUnheard }

  /// Sends an interim answer, and waits until the client's system has taken it.
  /// - Returns: whether it went out.
  func sendInterim(_ status: HTTPResponse.Status, _ fields: HTTPFields) async -> Bool {
    let wasSent = Mutex(false)
    do {
      try await perform {
        let isSent = self.writeInterim(status, fields)
        wasSent.withLock { $0 = isSent }
      }
    } catch {
      return false
    }
    return wasSent.withLock { $0 }
  }

  private func writeInterim(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> Bool {
    // HTTP/1.0 has no interim answers: its clients would take one for the final (§15.2).
    guard mayAnswerInterim, minorVersion > 0 else { return false }
    loop.output.removeAll()
    do throws(ResponseHead.Unlawful) {
      try ResponseHead.writeInterim(status, fields, into: loop.output)
    } catch {
      loop.context.logger.error("unlawful interim answer", metadata: ["status": "\(status.code)"])
      return false
    }
    sendBehindInterim()
    return mayAnswerInterim
  }

  /// Sends what is in the loop's buffer, behind interim answers that wait.
  private func sendBehindInterim() {
    if output.isEmpty { goOn(after: output.sendBuffer()) } else { output.appendBuffer() }
  }

  // MARK: Sending

  /// Does `write` on the loop, and waits until everything is sent.
  func perform(_ write: @escaping @Sendable () -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
      let isRunning = loop.execute {
        if self.isOpen { write() }
        if self.isOpen {
          self.output.waitUntilEmpty(continuation)
        } else {
          continuation.resume(throwing: HTTPBodyError.disconnected)
        }
      }
      if !isRunning { continuation.resume(throwing: HTTPBodyError.disconnected) }
    }
  }

  /// Sends what is still to be sent.
  func send() { goOn(after: output.send()) }

  private func goOn(after progress: ConnectionOutput.Progress) {
    switch progress {
    case .done: outputIsEmpty()
    case .blocked: connection.updateWriting()
    case .shareSent: connection.awaitTurn()
    case .failed: sendingFailed()
    case .fileTooShort(let path):
      loop.context.logger.error("a file became shorter while it was sent", metadata: ["path": "\(path)"])
      connection.close()
    }
  }

  private func outputIsEmpty() {
    connection.updateWriting()
    if let held {
      self.held = nil
      return write(held)
    }
    guard isQueued else { return }
    if let body, !body.reader.isComplete, !body.isWorthDraining { closesAfterResponse = true }
    connection.responseIsSent()
  }

  /// The client doesn't hear the server any more. What came of a body before is still handed out, and its end tells the
  /// handler; where the response was on its way, all is over.
  private func sendingFailed() {
    guard mayAnswerInterim, let body, !body.reader.isComplete else { return connection.close() }
    isUnheard = true
    output.discard()
    connection.updateWriting()
  }

  // MARK: The end

  /// Nothing more of the body is handed out, and the exchange is reported.
  /// - Parameter isComplete: whether the whole response was sent; else the handler's task is cancelled.
  func end(isComplete: Bool, peer: SocketAddress) {
    hasEnded = true
    let bodyBytes = body?.reader.received ?? 0
    // A body that broke off tells its handler, which may want to keep what came; otherwise nothing else would.
    let bodyTells = body.map { !$0.reader.isComplete } ?? false
    body?.end(isAnswered: isComplete)
    body = nil
    if !isComplete, !bodyTells { task?.cancel() }
    task = nil
    held = nil
    if let began {
      loop.context.report(
        HTTPExchange(
          status: status, bytesReceived: Int64(head?.length ?? 0) + bodyBytes,
          bytesSent: output.bytesSent - sentBefore,
          duration: .nanoseconds(Int64(SystemClock.monotonicNanoseconds - began)),
          isComplete: isComplete, note: head?.note.withLock { $0 }, head: head, number: number,
          forwardedPeer: forwardedPeer, address: peer))
    }
    if let counted { loop.context.budget.endRequest(of: counted) }
  }
}
