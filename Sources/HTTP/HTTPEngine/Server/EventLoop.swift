import Dispatch
import HTTPSemantics
import HTTPTypes
import Logging
import SystemIO

/// A thread that accepts connections, waits for events of all of them, and begins their handlers' tasks.
///
/// - Invariant: from ``run()`` on, everything except `mailbox`, `threadID` and constants is accessed only on the loop's
///   thread. This makes `@unchecked Sendable` correct.
final class EventLoop: @unchecked Sendable {
  /// The number of events handled before the handlers of their requests are called, so that similar work runs together.
  /// With more events, their data would be evicted from the processor's cache first.
  private static let takenTogether = 32
  /// The number of connections from which the memory of most of them is returned to the system when they have ended.
  private static let crowd = 128

  private(set) var context: ServerContext
  private let poller: Poller
  private var acceptor: Acceptor?
  private let mailbox: Mailbox
  private let threadID = Lock<UInt>(0)

  private var connections: [Connection?] = []
  private(set) var connectionCount = 0
  /// The largest number of connections since freed memory was returned to the system.
  private var peak = 0
  private var refusedCount = 0
  private var deadlines = DeadlineTable()
  /// The requests that have arrived and whose handlers were not called yet.
  private var calls: [HandlerCall] = []
  private var runningTasks = 0
  private var proxyWarning = RareWarning()
  /// The connections that let others continue first.
  var turns = TurnQueue()
  /// The number of events in this round so far.
  private(set) var eventsInRound = 0
  /// The number of polls.
  private(set) var round: UInt64 = 0

  /// The time in milliseconds on the monotonic clock, read once per round.
  private(set) var now: UInt64 = 0
  /// Whether the loop has waited since it read the clock.
  private var isTimeStale = true
  private var nextTick: UInt64 = 0
  private var tick: UInt64
  private var stopDeadline: UInt64?
  private var stopped: (@Sendable () -> Void)?

  private var dateSecond: UInt64 = 0
  /// The complete `Date` field with its line end (RFC 9110 §6.6.1), updated once per second.
  private(set) var dateField: [UInt8] = []
  private var random: UInt64

  /// Shared buffers: all connections read heads into `scratch`, and build responses' heads in `output`.
  let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 4096)
  let output = OutputBuffer(capacity: 64 * 1024)

  init(listener: Socket, context: ServerContext) throws(SystemError) {
    self.context = context
    poller = try Poller()
    mailbox = try Mailbox()
    tick = context.tickMilliseconds
    random = UInt64.random(in: .min ... .max)
    try poller.set(.read, for: mailbox.descriptor)
    acceptor = try Acceptor(listener, poller: poller, context: context)
  }

  deinit { scratch.deallocate() }

  /// Whether the caller runs on the loop's thread.
  var isCurrent: Bool { threadID.value == CurrentThread.id }

  /// Whether the loop starts no new requests.
  var isStopping: Bool { stopDeadline != nil }

  // MARK: Running

  /// Runs until ``stop(within:then:)`` has completed.
  func run() {
    threadID.set(CurrentThread.id)
    updateTime()
    while !isFinished {
      round += 1
      let waiting = turns.beginRound()
      do {
        let hasTurns = !waiting.isEmpty || !turns.isEmpty
        eventsInRound = 0
        try poller.wait(milliseconds: hasTurns ? 0 : timeout) { event in
          handle(event)
          eventsInRound += 1
          if eventsInRound % Self.takenTogether == 0 { callHandlers() }
        }
      } catch {
        // Only an invalid descriptor of the loop itself causes this. The loop can't serve any connection then.
        context.logger.critical("event loop: \(error)")
        stop(within: 0) {}
      }
      updateTime()
      isTimeStale = true
      callHandlers()
      for connection in waiting {
        connection.takeTurn()
        callHandlers()
      }
      for connection in turns.takeReaders() {
        connection.readHeldBytes()
        callHandlers()
      }
      continueSending()
      continueHandshakes()
      if now >= nextTick { tickOver() }
    }
    finish()
  }

  private var isFinished: Bool {
    stopDeadline != nil && connectionCount == 0 && runningTasks == 0 && calls.isEmpty
  }

  private var timeout: Int {
    if connectionCount == 0, acceptor?.isPaused != true, stopDeadline == nil { return -1 }
    return nextTick > now ? Int(nextTick - now) : 0
  }

  private func updateTime() {
    now = SystemClock.monotonicNanoseconds / 1_000_000
    if now / 1000 != dateSecond {
      dateSecond = now / 1000
      dateField = Array("Date: \(HTTPDate(secondsSince1970: SystemClock.unixSeconds))\r\n".utf8)
    }
  }

  private func handle(_ event: Poller.Event) {
    // The wait may have been long, and the events must not get a time before it.
    if isTimeStale { updateTime() }
    isTimeStale = false
    if event.descriptor == mailbox.descriptor {
      emptyMailbox()
    } else if event.descriptor == acceptor?.descriptor {
      acceptor?.acceptAll(at: now, add)
    } else if Int(event.descriptor) < connections.count, let connection = connections[Int(event.descriptor)] {
      connection.handle(event)
    }
  }

  private func tickOver() {
    nextTick = now + tick
    for descriptor in deadlines.expired(at: now) {
      deadlines[descriptor] = DeadlineTable.none
      connections[Int(descriptor)]?.deadlinePassed()
    }
    acceptor?.tick(now)
    if let stopDeadline, stopDeadline <= now {
      for connection in connections { connection?.close() }
    }
    reportIfStopped()
    callHandlers()
  }

  /// Continues responses that let others send first.
  private func continueSending() {
    let count = turns.sendersInRound
    var index = 0
    while index < count, let connection = turns.sender(index) {
      connection.takeTurn()
      callHandlers()
      index += 1
    }
    turns.removeSenders(index)
  }

  /// Continues handshakes that wait for their turn.
  private func continueHandshakes() {
    let count = turns.handshakersInRound
    var index = 0
    while index < count, let connection = turns.handshaker(index) {
      connection.takeTurn()
      callHandlers()
      index += 1
    }
    turns.removeHandshakers(index)
  }

  // MARK: Handlers

  /// Executes `action` on the loop's thread. If the caller runs on that thread, executes it immediately.
  ///
  /// - Returns: `false` if the loop has ended; `action` is not executed then.
  @discardableResult
  func execute(_ action: @escaping @Sendable () -> Void) -> Bool {
    if isCurrent {
      action()
      return true
    }
    return mailbox.post(action)
  }

  private func emptyMailbox() {
    for action in mailbox.empty() { action() }
  }

  /// Calls the handlers of a request at the end of the current round.
  func call(_ handler: HandlerCall) { calls.append(handler) }

  /// Calls the handlers of all requests that arrived.
  private func callHandlers() {
    // A response that is sent lets the connection's next request begin.
    while !calls.isEmpty {
      let arrived = calls
      calls.removeAll(keepingCapacity: true)
      for call in arrived { call.begin() }
    }
  }

  /// Counts a new task of a connection. It must end with ``endTask()``.
  func beginTask() { runningTasks += 1 }

  /// Counts the end of a task.
  func endTask() {
    if isCurrent { runningTasks -= 1 } else { execute { self.runningTasks -= 1 } }
  }

  // MARK: Accepting

  private func add(_ socket: Socket, _ peer: SocketAddress?) {
    let isTrusted = context.proxies.contains(peer?.host)
    if context.expectsProxyHeader, !isTrusted {
      warnOfProxy("The connection does not come from a trusted proxy", peer)
      return socket.close()
    }
    // All clients of a Unix socket are on this machine.
    let client = isTrusted ? nil : peer?.host.client ?? .loopback
    let isAdmitted = !isStopping && context.budget.admit(client)
    // A few of the excess connections get a response. Beyond that, they are closed immediately.
    guard isAdmitted || refusedCount < 128 else { return socket.close() }
    if !isAdmitted { refusedCount += 1 }
    let session: (any SecureSession)?
    do {
      session = try context.security?.makeSession(on: socket)
    } catch {
      context.logger.error("a connection can't be protected: \(error)")
      if isAdmitted { context.budget.leave(client) } else { refusedCount -= 1 }
      return socket.close()
    }
    let connection = Connection(
      channel: Channel(socket: socket, session: session, loop: self), peer: peer, isTrusted: isTrusted,
      client: client, isAdmitted: isAdmitted, loop: self)
    let index = Int(socket.descriptor)
    if index >= connections.count {
      connections.append(contentsOf: repeatElement(nil, count: index + 64 - connections.count))
    }
    connections[index] = connection
    connectionCount += 1
    peak = max(peak, connectionCount)
    connection.start()
  }

  // MARK: For connections

  /// Logs why a connection was closed that had to come from a trusted proxy and to begin with a ``ProxyHeader``.
  func warnOfProxy(_ reason: String, _ peer: SocketAddress?) {
    guard let omitted = proxyWarning.admit(at: now) else { return }
    context.logger.warning(
      "connection refused: PROXY protocol",
      metadata: [
        "reason": "\(reason)", "peer": "\(peer.map(\.description) ?? TrustedProxy.unix.description)",
        "omittedBefore": "\(omitted)",
      ])
  }

  func setInterest(_ interest: Poller.Interest, for descriptor: Int32) throws(SystemError) {
    try poller.set(interest, for: descriptor)
  }

  func setDeadline(_ deadline: UInt64, for descriptor: Int32) { deadlines[descriptor] = deadline }

  /// Removes a connection that is about to close its socket.
  func remove(_ connection: Connection) {
    let descriptor = connection.channel.socket.descriptor
    do { try poller.set([], for: descriptor) } catch { context.logger.error("poller: \(error)") }
    deadlines[descriptor] = DeadlineTable.none
    connections[Int(descriptor)] = nil
    connectionCount -= 1
    if connection.isAdmitted {
      context.budget.leave(connection.client)
    } else {
      refusedCount -= 1
    }
    if peak >= Self.crowd, connectionCount <= peak / 8 {
      peak = connectionCount
      // It can take milliseconds.
      DispatchQueue.global(qos: .utility).async { FreedMemory.returnToSystem() }
    }
    if stopDeadline != nil { nextTick = now }
  }

  /// Returns a number for a request, which is unique but not secret (SplitMix64).
  func makeRequestNumber() -> UInt64 {
    random &+= 0x9E37_79B9_7F4A_7C15
    var mixed = random
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Replaces the shared state, for everything that begins from now on. Callable from any thread. The returned signal
  /// fires when it is done.
  func beginChange(to context: ServerContext) -> Signal {
    begin {
      self.context = context
      self.acceptor?.context = context
      self.tick = context.tickMilliseconds
      self.nextTick = self.now
    }
  }

  /// Executes `action` on the loop's thread. The returned signal fires afterwards, or when the loop has ended.
  func begin(_ action: @escaping @Sendable () -> Void) -> Signal {
    let signal = Signal()
    let isPosted = execute {
      action()
      signal.fire()
    }
    if !isPosted { signal.fire() }
    return signal
  }

  // MARK: Stopping

  /// Like ``stop(within:then:)``, but callable from any thread. The returned signal fires at the end.
  func beginStop(within milliseconds: UInt64) -> Signal {
    let signal = Signal()
    if !execute({ self.stop(within: milliseconds) { signal.fire() } }) { signal.fire() }
    return signal
  }

  /// Stops accepting connections, closes idle ones, and waits up to `milliseconds` for running requests. Then closes
  /// the remaining connections. Calls `completion` when no connection is left.
  func stop(within milliseconds: UInt64, then completion: @escaping @Sendable () -> Void) {
    let former = stopped
    stopped = {
      former?()
      completion()
    }
    // Connections that the kernel has already accepted are served, here or by the next server.
    if !context.sharesListeners { acceptor?.acceptAll(at: now, add) }
    let deadline = now.addingReportingOverflow(milliseconds)
    stopDeadline = min(stopDeadline ?? .max, deadline.overflow ? .max : deadline.partialValue)
    acceptor?.close()
    acceptor = nil
    for connection in connections { connection?.serverIsStopping() }
    nextTick = now
  }

  private func reportIfStopped() {
    guard stopDeadline != nil, connectionCount == 0 else { return }
    stopped?()
    stopped = nil
  }

  /// Closes the mailbox, and executes its last actions.
  private func finish() {
    for action in mailbox.close() { action() }
    // A closed connection can still be waiting for its turn, and refers to the loop.
    turns = TurnQueue()
    reportIfStopped()
    threadID.set(0)
  }
}
