import Dispatch
import HTTPSemantics
import HTTPTypes
import Logging
import Synchronization
import SystemIO

/// One thread that accepts connections, waits for all of them at once and runs their handlers' tasks.
///
/// - Invariant: whatever isn't `mailbox`, `threadID` or constant is touched on the loop's own thread alone, from
///   ``run()`` on. That is what makes `@unchecked Sendable` true.
final class EventLoop: TaskExecutor, @unchecked Sendable {
  /// How many that are ready are taken before any of them is answered, so that answers which share work come together:
  /// more would leave the processor's nearest memory before their turn.
  private static let takenTogether = 32

  let context: ServerContext
  private let poller: Poller
  private var acceptor: Acceptor?
  private let mailbox: Mailbox
  private let threadID = Atomic<UInt>(0)

  private var connections: [Connection?] = []
  private(set) var connectionCount = 0
  private var refusedCount = 0
  private var deadlines = DeadlineTable()
  private var localJobs: [UnownedJob] = []
  private var runningTasks = 0
  /// Who lets others have their turn.
  var turns = TurnQueue()
  /// Counts the polls.
  private(set) var round: UInt64 = 0

  /// Milliseconds on the monotonic clock, read once per round.
  private(set) var now: UInt64 = 0
  /// Whether the loop has waited since it read the clock.
  private var isTimeStale = true
  private var nextTick: UInt64 = 0
  private let tick: UInt64
  private var stopDeadline: UInt64?
  private var stopped: (@Sendable () -> Void)?

  private var dateSecond: UInt64 = 0
  /// The whole field `Date` with its line end (RFC 9110 §6.6.1), written once a second.
  private(set) var dateField: [UInt8] = []
  private var random: UInt64

  /// Where every connection reads heads into, and where every response's head is put together.
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

  /// Whether the caller is on the loop's thread.
  var isCurrent: Bool { threadID.load(ordering: .relaxed) == CurrentThread.id }

  /// Whether no new request is to be begun.
  var isStopping: Bool { stopDeadline != nil }

  // MARK: Running

  /// Runs until ``stop(within:then:)`` has done its work.
  func run() {
    threadID.store(CurrentThread.id, ordering: .relaxed)
    updateTime()
    while !isFinished {
      round += 1
      let waiting = turns.beginRound()
      do throws(SystemError) {
        let hasTurns = !waiting.isEmpty || !turns.isEmpty
        var taken = 0
        try poller.wait(milliseconds: hasTurns ? 0 : timeout) { event in
          handle(event)
          taken += 1
          if taken % Self.takenTogether == 0 { runLocalJobs() }
        }
      } catch {
        // Only a broken descriptor of the loop's own gets here; nothing could be served any more.
        context.logger.critical("event loop: \(error)")
        stop(within: 0) {}
      }
      updateTime()
      isTimeStale = true
      runLocalJobs()
      for connection in waiting {
        connection.takeTurn()
        runLocalJobs()
      }
      letSend()
      if now >= nextTick { tickOver() }
    }
    finish()
  }

  private var isFinished: Bool {
    stopDeadline != nil && connectionCount == 0 && runningTasks == 0 && localJobs.isEmpty
  }

  private var timeout: Int {
    if !localJobs.isEmpty { return 0 }
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
    // The wait may have been a long one: what has come is not to be dated before it.
    if isTimeStale { updateTime() }
    isTimeStale = false
    if event.descriptor == mailbox.descriptor {
      emptyMailbox()
    } else if event.descriptor == acceptor?.descriptor {
      acceptor?.acceptAll(at: now, add)
    } else if Int(event.descriptor) < connections.count, let connection = connections[Int(event.descriptor)] {
      if event.readiness.contains(.write) { connection.becameWritable() }
      if event.readiness.contains(.read) { connection.becameReadable() }
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
    runLocalJobs()
  }

  private func letSend() {
    let count = turns.sendersInRound
    var index = 0
    while index < count, let connection = turns.sender(index) {
      connection.takeTurn()
      runLocalJobs()
      index += 1
    }
    turns.removeSenders(index)
  }

  // MARK: Jobs

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if isCurrent {
      localJobs.append(job)
      return
    }
    if !mailbox.post(job) { runElsewhere(job) }
  }

  /// A task that outlives its server finishes somewhere.
  private func runElsewhere(_ job: UnownedJob) {
    let executor = asUnownedTaskExecutor()
    DispatchQueue.global().async { job.runSynchronously(on: executor) }
  }

  /// Runs `action` on the loop's thread: at once where that is the caller's.
  /// - Returns: `false`, and nothing happens, once the loop has ended.
  @discardableResult
  func execute(_ action: @escaping @Sendable () -> Void) -> Bool {
    if isCurrent {
      action()
      return true
    }
    return mailbox.post(action)
  }

  private func emptyMailbox() {
    let mail = mailbox.empty()
    localJobs.append(contentsOf: mail.jobs)
    for action in mail.actions { action() }
  }

  private func runLocalJobs() {
    var index = 0
    let executor = asUnownedTaskExecutor()
    // Jobs that make jobs for ever must not keep the loop from its connections.
    while index < localJobs.count, index < 1024 {
      let job = localJobs[index]
      index += 1
      job.runSynchronously(on: executor)
    }
    if index == localJobs.count {
      localJobs.removeAll(keepingCapacity: true)
    } else {
      localJobs.removeFirst(index)
    }
  }

  /// A task of a connection's begins; it runs on this loop, and ends with ``endTask()``.
  func beginTask() { runningTasks += 1 }

  /// A task of a connection's ends.
  func endTask() {
    if isCurrent { runningTasks -= 1 } else { execute { self.runningTasks -= 1 } }
  }

  // MARK: Accepting

  private func add(_ socket: Socket, _ peer: SocketAddress) {
    let client = context.proxies.contains(peer.host) ? nil : peer.host.client
    let isAdmitted = !isStopping && context.budget.admit(client)
    // A few of those that are too many are told so; past that, closing is all that is left.
    guard isAdmitted || refusedCount < 128 else { return socket.close() }
    if !isAdmitted { refusedCount += 1 }
    let connection = Connection(
      socket: socket, peer: peer, client: client, isAdmitted: isAdmitted, loop: self)
    let index = Int(socket.descriptor)
    if index >= connections.count {
      connections.append(contentsOf: repeatElement(nil, count: index + 64 - connections.count))
    }
    connections[index] = connection
    connectionCount += 1
    connection.start()
  }

  // MARK: For connections

  func setInterest(_ interest: Poller.Interest, for descriptor: Int32) throws(SystemError) {
    try poller.set(interest, for: descriptor)
  }

  func setDeadline(_ deadline: UInt64, for descriptor: Int32) { deadlines[descriptor] = deadline }

  /// Forgets a connection that is about to close its socket.
  func remove(_ connection: Connection) {
    let descriptor = connection.socket.descriptor
    do { try poller.set([], for: descriptor) } catch { context.logger.error("poller: \(error)") }
    deadlines[descriptor] = DeadlineTable.none
    connections[Int(descriptor)] = nil
    connectionCount -= 1
    if connection.isAdmitted {
      context.budget.leave(connection.client)
    } else {
      refusedCount -= 1
    }
    if stopDeadline != nil { nextTick = now }
  }

  /// A number for a request: not secret, but unlike all others (SplitMix64).
  func makeRequestNumber() -> UInt64 {
    random &+= 0x9E37_79B9_7F4A_7C15
    var mixed = random
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  // MARK: Stopping

  /// Like ``stop(within:then:)``, from any thread; the signal tells of the end.
  func beginStop(within milliseconds: UInt64) -> Signal {
    let signal = Signal()
    if !execute({ self.stop(within: milliseconds) { signal.fire() } }) { signal.fire() }
    return signal
  }

  /// Stops accepting, closes what is idle, lets what runs finish within `milliseconds`, closes the rest, and calls
  /// `completion` when no connection is left.
  func stop(within milliseconds: UInt64, then completion: @escaping @Sendable () -> Void) {
    let former = stopped
    stopped = {
      former?()
      completion()
    }
    // Those that the kernel has accepted already are served.
    acceptor?.acceptAll(at: now, add)
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

  /// Takes no more mail; what came last is run elsewhere.
  private func finish() {
    let mail = mailbox.close()
    for action in mail.actions { action() }
    reportIfStopped()
    threadID.store(0, ordering: .relaxed)
    for job in localJobs + mail.jobs { runElsewhere(job) }
    localJobs = []
  }
}
