import HTTPTypes
import Logging
import Synchronization
import SystemIO

/// One client's connection: decides, on what has come and what could be sent, what to do next.
///
/// One request at a time: while one runs, the next ones wait in `input` and in the kernel, and so their answers go
/// out in order.
///
/// - Invariant: everything here is touched on its loop's thread alone. That is what makes `@unchecked Sendable` true.
final class Connection: @unchecked Sendable {
  enum Phase {
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
  let peer: SocketAddress
  /// Whose connection it counts as; `nil` for a trusted proxy's, whose requests count as their clients'.
  let client: IPAddress?
  /// Whether the connection counts against the limits; the others are told 503.
  let isAdmitted: Bool

  var phase = Phase.head
  /// What came and is not used yet: part of a head, the beginning of a body, or the next requests.
  var input = ByteQueue()
  var inputHasEnded = false
  /// Has judged the part of a head that stands in `input`; `nil` where nothing of one has come.
  var parser: RequestParser?
  var requestCount = 0
  /// The loop's round in which requests were last begun, and how many of them.
  var round: UInt64 = 0
  var begunInRound = 0
  /// Whether the connection could go on, but lets others have their turn first.
  var awaitsTurn = false

  var output = OutputQueue()
  var isBlocked = false
  var closesAfterResponse = false
  /// The request that runs and its response.
  var exchange = Exchange()
  /// The response, while it waits for interim answers that the client has not taken yet.
  var held: HTTPServerResponse?
  /// Whether a request that has just begun is being answered: whoever began it goes on with the next one.
  var isAnswering = false
  /// Its body; `nil` where it has none.
  var body: IncomingBody?
  var task: Task<Void, Never>?

  private var readDeadline = DeadlineTable.none
  private var writeDeadline = DeadlineTable.none

  var limits: HTTPLimits { loop.context.limits }

  init(socket: Socket, peer: SocketAddress, client: IPAddress?, isAdmitted: Bool, loop: EventLoop) {
    self.socket = socket
    self.peer = peer
    self.client = client
    self.isAdmitted = isAdmitted
    self.loop = loop
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
    case .request: if let body, body.wantsBytes { body.receive() } else { watchClient() }
    case .draining: drainBody()
    case .lingering: dropInput()
    case .closed: break
    }
  }

  func becameWritable() {
    // Who waits to send has its turn in order, however often the poller tells.
    guard isBlocked, !awaitsTurn else { return }
    if loop.turns.hasSenders || loop.turns.sendingLeft <= 0 { awaitTurn() } else { flush() }
  }

  /// Others had theirs: the connection goes on where it stopped.
  func takeTurn() {
    awaitsTurn = false
    switch phase {
    case .head: waitForRequest()
    case .request: if !output.isEmpty { flush() }
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
    if writeDeadline <= loop.now, !renewWriteDeadline() { return close() }
    guard readDeadline <= loop.now else { return updateDeadline() }
    readDeadline = DeadlineTable.none
    switch phase {
    case .head: if input.isEmpty { closeUnlessRequested() } else { refuse(.headTooSlow) }
    case .request: body?.deadlinePassed()
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
      let count = try socket.peek(into: UnsafeMutableRawBufferPointer(rebasing: loop.scratch[..<1]))
      if count == 0 { inputHasEnded = true }
      // Whatever it is, it can wait: level-triggered readiness would tell of it without end.
      if count != nil { setInterest(reading: false) }
    } catch {
      close()
    }
  }

  // MARK: Waiting

  func setReadDeadline(_ deadline: UInt64) {
    readDeadline = deadline
    updateDeadline()
  }

  func setWriteDeadline(_ deadline: UInt64) {
    writeDeadline = deadline
    updateDeadline()
  }

  private func updateDeadline() {
    guard phase != .closed else { return }
    loop.setDeadline(min(readDeadline, writeDeadline), for: socket.descriptor)
  }

  /// Registers what the connection waits for; cheap where nothing changes.
  func setInterest(reading: Bool) {
    guard phase != .closed else { return }
    var interest: Poller.Interest = reading && !inputHasEnded ? .read : []
    if isBlocked { interest.insert(.write) }
    guard interest != self.interest else { return }
    self.interest = interest
    do {
      try loop.setInterest(interest, for: socket.descriptor)
    } catch {
      loop.context.logger.error("connection: \(error)")
      close()
    }
  }

  /// What the poller looks for. While a request runs it may go on looking for bytes: only if some come is it told to
  /// stop, which saves two system calls per request.
  private var interest: Poller.Interest = []

  /// Registers the change of `isBlocked`.
  func updateWriteInterest() { setInterest(reading: interest.contains(.read)) }

  // MARK: Ending

  /// Closes when everything is sent: at once where the client has said all, else after it had time to read.
  func finishAndClose() {
    let clientMaySend =
      !inputHasEnded
      && (exchange.head == nil || !input.isEmpty || body.map { !$0.reader.isComplete } ?? false)
    endExchange(isComplete: true)
    guard clientMaySend else { return close() }
    do {
      try socket.shutdownSending()
    } catch {
      return close()
    }
    phase = .lingering
    input.removeFirst(input.count)
    setReadDeadline(loop.now + limits.lingerTime.milliseconds)
    setInterest(reading: true)
  }

  private func dropInput() {
    do {
      // A bounded number of times, so that a fast sender leaves time for others.
      for _ in 0..<4 {
        guard let count = try socket.receive(into: loop.scratch) else { return }
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
    output.removeAll()
    resumeWriters(with: .failure(HTTPBodyError.disconnected))
  }

  /// The request is over: whoever holds its body gets no more of it, and the exchange is told of.
  func endExchange(isComplete: Bool) {
    exchange.bytesReceived += body?.reader.received ?? 0
    // A body that broke off tells its handler, which may want to keep what came; otherwise nothing else would.
    let bodyTells = body.map { !$0.reader.isComplete } ?? false
    body?.end(isAnswered: isComplete)
    body = nil
    if !isComplete, !bodyTells { task?.cancel() }
    task = nil
    if exchange.isReported { report(isComplete: isComplete) }
    if let counted = exchange.counted { loop.context.budget.endRequest(of: counted) }
    if held != nil { held = nil }
    exchange = Exchange()
  }

  private func report(isComplete: Bool) {
    loop.context.report(
      HTTPExchange(
        status: exchange.status, bytesReceived: exchange.bytesReceived, bytesSent: exchange.bytesSent,
        duration: .nanoseconds(Int64(SystemClock.monotonicNanoseconds - exchange.began)),
        isComplete: isComplete, note: exchange.head?.note.withLock { $0 }, head: exchange.head,
        number: exchange.number, forwardedPeer: exchange.forwardedPeer, address: peer))
  }

  // MARK: Waiting for room

  private var writers: [CheckedContinuation<Void, any Error>] = []

  /// Whoever writes a stream, or interim answers, waits here until everything before is sent.
  func waitForRoom(_ continuation: CheckedContinuation<Void, any Error>) {
    if phase == .closed {
      continuation.resume(throwing: HTTPBodyError.disconnected)
    } else if output.isEmpty {
      continuation.resume()
    } else {
      writers.append(continuation)
    }
  }

  func resumeWriters(with result: Result<Void, any Error>) {
    guard !writers.isEmpty else { return }
    let waiting = writers
    writers = []
    for writer in waiting { writer.resume(with: result) }
  }
}

extension Connection {
  /// One request and its response, while they last.
  struct Exchange {
    /// `nil` where the head was refused: then nobody knows where the request ends.
    var head: ReceivedHead?
    var number: UInt64 = 0
    /// Whom a trusted proxy brings the request from, and whose it counts as where that is known.
    var forwardedPeer: String?
    var counted: IPAddress?
    /// What the request is called.
    var id: String { head?.id ?? ReceivedHead.text(ofNumber: number) }
    var isHEAD = false
    var minorVersion = 1
    /// Whether the client waits for `100 Continue`.
    var awaitsContinue = false
    var status = 0
    var bytesReceived: Int64 = 0
    var bytesSent: Int64 = 0
    /// Nanoseconds on the monotonic clock; only where the exchange is reported.
    var began: UInt64 = 0
    var isReported = false
    var framing = ResponseHead.Framing.none
    /// Whether the client takes the response fast enough, while it is waited for.
    var progress = ProgressFloor()
    /// Whether all of the response is in the queue.
    var isQueued = false
    /// Whether the client can't be told anything any more, while what it sent is still read.
    var isUnheard = false

    /// A request begins; nothing is here of one before.
    mutating func begin(_ facts: RequestHead, _ head: ReceivedHead, isReported: Bool) {
      self.head = head
      number = head.number
      bytesReceived = Int64(head.length)
      isHEAD = head.method == .head
      minorVersion = facts.minorVersion
      awaitsContinue = facts.expectsContinue
      self.isReported = isReported
      if isReported { began = SystemClock.monotonicNanoseconds }
    }
  }
}
