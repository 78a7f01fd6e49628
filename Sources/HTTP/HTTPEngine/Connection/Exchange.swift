import HTTPTypes
import Logging
import SystemIO

/// A request and its response, while they are processed.
///
/// A handler's task writes to its exchange instead of the connection. An exchange that has ended writes nothing, so
/// that no bytes of a response get into another one.
///
/// - Invariant: accessed only on the connection's loop, except for constants, ``sendInterim(_:_:)``, ``perform(_:)``,
///   ``forwardedPeer`` and ``forwardedView``, which are set before the handler is called. This makes `@unchecked
///   Sendable` correct.
final class Exchange: @unchecked Sendable {
  let connection: Connection
  let loop: EventLoop
  private let output: ConnectionOutput

  /// The head; `nil` if it was refused, so that the end of the request is unknown.
  let head: ReceivedHead?
  private let number: UInt64
  private let isHEAD: Bool
  private let minorVersion: Int
  /// The other end of the connection as text.
  let peerName: String
  /// The address of the other end of the connection.
  let connectedAddress: IPAddress?
  /// The client that a trusted proxy names, and the address by which the request is counted, if known.
  private(set) var forwardedPeer: String?
  /// How the client of a trusted proxy sees the server.
  private(set) var forwardedView: ForwardedView?
  private var counted: IPAddress?
  /// The certificate with which the client has proved its identity.
  let clientCertificate: ClientCertificate?
  /// Whether the connection is protected.
  let isSecure: Bool
  /// The request's body; `nil` if it has none.
  private(set) var body: IncomingBody?
  private var task: Task<Void, Never>?
  /// Whether the client waits for `100 Continue`.
  private(set) var awaitsContinue: Bool
  private(set) var closesAfterResponse: Bool

  /// The response, while it waits until interim responses were sent.
  private var held: HTTPServerResponse?
  /// The status of the response; 0 until it has started.
  private var status = 0
  private var framing = ResponseHead.Framing.none
  /// Whether the whole response was queued.
  private var isQueued = false
  /// Whether sending has failed, while received bytes are still read.
  private var hasSendingFailed = false
  private var hasEnded = false

  /// The start time in nanoseconds on the monotonic clock; `nil` if the exchange is not reported.
  let began: UInt64?
  /// The number of bytes that the connection had sent before.
  private let sentBefore: Int64

  /// - Parameter head: the received head; `nil` if it was refused.
  init(_ head: (facts: RequestHead, received: ReceivedHead)?, on connection: Connection, closes: Bool) {
    self.connection = connection
    loop = connection.loop
    output = connection.output
    peerName = connection.peerName
    connectedAddress = connection.connectedAddress
    self.head = head?.received
    number = head?.received.number ?? loop.makeRequestNumber()
    isHEAD = head?.received.method == .head
    minorVersion = head?.facts.minorVersion ?? 1
    awaitsContinue = head?.facts.expectsContinue ?? false
    closesAfterResponse = closes
    began = loop.context.reportsExchanges ? SystemClock.monotonicNanoseconds : nil
    sentBefore = output.bytesSent
    clientCertificate = connection.clientCertificate
    isSecure = connection.channel.isSecure
    if let framing = head?.facts.framing, framing != .length(0) { body = IncomingBody(framing, of: self) }
  }

  // MARK: The request

  /// Determines the client for which a trusted proxy forwards the request. Throws if the client has reached its limit, or
  /// if what the proxy says is malformed.
  func admitForwarded(_ head: ReceivedHead) throws(Refusal) {
    let (client, view) = try loop.context.proxies.read(head.headerFields, from: peerName)
    (forwardedPeer, forwardedView) = (client.name, view)
    guard let counted = client.counted else { return }
    guard loop.context.budget.admitRequest(of: counted) else { throw .tooManyRequests }
    self.counted = counted
  }

  /// Runs `work` in a task, which is cancelled if the exchange ends before the whole response was sent. The task begins
  /// on this thread, and continues elsewhere after it has waited.
  func run(_ work: @escaping @Sendable () async -> Void) {
    let loop = loop
    loop.beginTask()
    let counted: @Sendable () async -> Void = {
      await work()
      loop.endTask()
    }
    let task =
      if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
        Task.immediate { await counted() }
      } else {
        Task { await counted() }
      }
    if isOpen { self.task = task } else { task.cancel() }
  }

  /// Sends `100 Continue` if the client expects it, unless it has started to send the body (RFC 9110 §10.1.1).
  func sendContinueIfAwaited() {
    guard awaitsContinue, !isQueued else { return }
    awaitsContinue = false
    guard connection.input.isEmpty, mayAnswerInterim else { return }
    loop.output.removeAll()
    loop.output.append(literal: "HTTP/1.1 100 Continue\r\n\r\n")
    sendBehindInterim()
  }

  /// Stops reading after an error in the body. The connection can't be reused.
  func bodyFailed() {
    closesAfterResponse = true
    connection.setInterest(reading: false)
  }

  // MARK: The response

  /// Whether the response is not completely written.
  var isOpen: Bool { !hasEnded && !isQueued }

  /// Sends an error response from the engine, and closes the connection after it.
  func refuse(_ refusal: Refusal) {
    connection.setReadDeadline(DeadlineTable.none)
    closesAfterResponse = true
    decline(refusal)
  }

  /// Sends an error response from the engine. The connection is reused if possible.
  func decline(_ refusal: Refusal) {
    write(refusal.problem.response(requestID: head?.id ?? ReceivedHead.text(ofNumber: number)))
  }

  /// Sends the response, or the start of a streamed response.
  func write(_ response: HTTPServerResponse) {
    guard isOpen else { return }
    if hasSendingFailed { return connection.close() }
    // The response is sent after all interim responses. If there is a held response already, it takes precedence.
    guard output.isEmpty else {
      if held == nil { held = response }
      return
    }
    if let body, !body.reader.isComplete, !response.body.isStream {
      if !body.judgeUnread() { return refuse(.brokenCoding) }
      if !body.isWorthDraining { closesAfterResponse = true }
    }
    var head = ResponseHead(
      response, isHEAD: isHEAD, minorVersion: minorVersion,
      keepsAlive: !closesAfterResponse && !loop.isStopping)
    do {
      try output.begin(response, &head)
    } catch {
      loop.context.logger.error(
        "invalid status or field in a response", metadata: ["status": "\(response.status.code)"])
      return decline(.internalError)
    }
    closesAfterResponse = head.closes
    status = response.status.code
    framing = head.framing
    isQueued = !(head.sendsBody && response.body.isStream)
    goOn(after: output.sendBuffer())
  }

  /// Sends a piece of a streamed response.
  func writeStreamed(_ piece: [UInt8]) { goOn(after: output.sendStreamed(piece, framing)) }

  /// Sends the end of a streamed response.
  func endStream() {
    isQueued = true
    goOn(after: output.endStream(framing))
  }

  /// Ends the connection in a way that the client can detect that the stream is incomplete.
  func breakStream() {
    if framing == .untilClose { connection.reset() } else { connection.close() }
  }

  // MARK: Interim responses

  /// Whether an interim response can be sent, which is not the case after the final one has started (RFC 9110 §15.2).
  private var mayAnswerInterim: Bool { isOpen && held == nil && status == 0 && !hasSendingFailed }

  /// Sends an interim response, and waits until it was written to the socket.
  ///
  /// - Returns: whether it was sent.
  func sendInterim(_ status: HTTPResponse.Status, _ fields: HTTPFields) async -> Bool {
    let wasSent = Lock(false)
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
    // HTTP/1.0 has no interim responses: its clients would treat one as the final response (§15.2).
    guard mayAnswerInterim, minorVersion > 0 else { return false }
    loop.output.removeAll()
    do {
      try ResponseHead.writeInterim(status, fields, into: loop.output)
    } catch {
      loop.context.logger.error(
        "invalid status or field in an interim response", metadata: ["status": "\(status.code)"])
      return false
    }
    sendBehindInterim()
    return mayAnswerInterim
  }

  /// Sends the loop's buffer, after interim responses that are still queued.
  private func sendBehindInterim() {
    if output.isEmpty { goOn(after: output.sendBuffer()) } else { output.appendBuffer() }
  }

  // MARK: Sending

  /// Executes `write` on the loop, and waits until everything was sent.
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

  /// Sends queued output.
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

  /// Handles a client that no longer receives. If the handler can still read a part of the body, it gets the received
  /// bytes and then an error. If the response has started, the connection is closed.
  private func sendingFailed() {
    guard mayAnswerInterim, let body, !body.reader.isComplete else { return connection.close() }
    hasSendingFailed = true
    output.discard()
    connection.updateWriting()
  }

  // MARK: The end

  /// Ends the exchange: stops the body and reports the exchange.
  ///
  /// - Parameter isComplete: whether the whole response was sent. Otherwise the handler's task is cancelled.
  func end(isComplete: Bool) {
    hasEnded = true
    let bodyBytes = body?.reader.received ?? 0
    // A handler that reads an incomplete body is notified by the body's error, and can keep the received bytes. Any
    // other handler must be cancelled.
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
          isComplete: isComplete, peer: forwardedPeer ?? peerName,
          userInfo: head?.userInfo.withLock { $0 }, head: head, number: number))
    }
    if let counted { loop.context.budget.endRequest(of: counted) }
  }
}
