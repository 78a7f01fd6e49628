#if canImport(Darwin)
  import Darwin
#else
  import CPlatform
  import Glibc
#endif

/// Waits until descriptors are readable or writable. Uses epoll on Linux and kqueue on Darwin, both level-triggered
/// except for ``Interest/arrival``.
///
/// Remembers the registered interests, so that only an actual change needs a system call. Not thread-safe: use it on
/// one thread only.
public final class Poller {
  /// The conditions to wait for.
  public struct Interest: OptionSet, Sendable, Hashable {
    /// The raw bits.
    public let rawValue: UInt8
    /// Creates an interest from its raw bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Bytes or connections can be received, or the stream has ended.
    public static let read = Interest(rawValue: 1)
    /// Bytes can be sent.
    public static let write = Interest(rawValue: 2)
    /// Bytes have arrived, or the stream has ended, since the last report or since this interest was registered. What
    /// has been reported can be reported again, and is on Darwin as long as it was not received.
    ///
    /// This is edge-triggered on Linux. Level-triggered polling keeps a descriptor in the kernel's list until a poll
    /// finds it idle, and what arrives after that goes behind all others: with many busy connections, some wait for two
    /// rounds instead of one.
    public static let arrival = Interest(rawValue: 4)
  }

  /// A descriptor that is ready. On Linux, an error or a hang-up is reported as ready for both; the next call on the
  /// descriptor returns the error.
  public struct Event: Sendable, Hashable {
    /// The descriptor.
    public let descriptor: Int32
    /// The conditions that are met: ``Interest/read``, also for ``Interest/arrival``, and ``Interest/write``.
    public let readiness: Interest
    /// Whether the other side has ended the stream, perhaps behind bytes that were not received yet. Set only for
    /// ``Interest/arrival`` on Linux, where the end is not reported again.
    public let hasEnded: Bool
  }

  private let owned: Descriptor
  private var descriptor: Int32 { owned.number }
  private var registered: [Interest] = []
  private static let capacity = 256

  /// Creates a poller without registered descriptors.
  public init() throws(SystemError) {
    #if canImport(Darwin)
      owned = try Descriptor("kqueue") { kqueue() }
      events = .allocate(capacity: Self.capacity)
    #else
      owned = try Descriptor("epoll_create1") { epoll_create1(Int32(SNAPSHOT_EPOLL_CLOEXEC)) }
      events = .allocate(capacity: Self.capacity)
    #endif
  }

  deinit { events.deallocate() }

  /// Registers `interest` in the descriptor `subject`; an empty interest removes it. Remove a descriptor before closing
  /// it. Throws `EBADF` for a closed descriptor (a negative number).
  public func set(_ interest: Interest, for subject: Int32) throws(SystemError) {
    guard subject >= 0 else { throw SystemError(operation: "epoll_ctl", code: EBADF) }
    let index = Int(subject)
    if index >= registered.count {
      registered.append(contentsOf: repeatElement([], count: index + 64 - registered.count))
    }
    let former = registered[index]
    guard former != interest else { return }
    try change(subject, from: former, to: interest)
    registered[index] = interest
  }

  #if canImport(Darwin)
    private let events: UnsafeMutablePointer<kevent>

    private func change(_ subject: Int32, from former: Interest, to interest: Interest) throws(SystemError) {
      for (bits, filter) in [([.read, .arrival] as Interest, EVFILT_READ), (.write, EVFILT_WRITE)]
      where former.isDisjoint(with: bits) != interest.isDisjoint(with: bits) {
        var event = kevent(
          ident: UInt(subject), filter: Int16(filter),
          flags: UInt16(interest.isDisjoint(with: bits) ? EV_DELETE : EV_ADD), fflags: 0, data: 0, udata: nil)
        try retryingInterrupts("kevent") { kevent(descriptor, &event, 1, nil, 0, nil) }
      }
    }

    /// Waits at most `milliseconds` (−1: without limit) and calls `body` for every descriptor that is ready. A signal
    /// ends the wait early.
    public func wait(milliseconds: Int, _ body: (Event) -> Void) throws(SystemError) {
      var time = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
      let count =
        milliseconds < 0
        ? kevent(descriptor, nil, 0, events, Int32(Self.capacity), nil)
        : kevent(descriptor, nil, 0, events, Int32(Self.capacity), &time)
      if count < 0, errno != EINTR { throw SystemError(operation: "kevent") }
      for index in 0..<max(Int(count), 0) {
        let event = events[index]
        body(
          Event(
            descriptor: Int32(event.ident), readiness: Int32(event.filter) == EVFILT_READ ? .read : .write,
            hasEnded: false))
      }
    }
  #else
    private let events: UnsafeMutablePointer<snapshot_epoll_event>

    private func change(_ subject: Int32, from former: Interest, to interest: Interest) throws(SystemError) {
      var event = snapshot_epoll_event()
      if interest.contains(.read) { event.events |= UInt32(SNAPSHOT_EPOLLIN) }
      if interest.contains(.write) { event.events |= UInt32(SNAPSHOT_EPOLLOUT) }
      if interest.contains(.arrival) {
        event.events |= UInt32(SNAPSHOT_EPOLLIN | SNAPSHOT_EPOLLRDHUP) | UInt32(SNAPSHOT_EPOLLET)
      }
      event.data = UInt64(subject)
      // An empty interest must be removed, because a registered descriptor reports hang-ups even without any interest.
      let operation =
        interest.isEmpty
        ? SNAPSHOT_EPOLL_CTL_DEL : former.isEmpty ? SNAPSHOT_EPOLL_CTL_ADD : SNAPSHOT_EPOLL_CTL_MOD
      try retryingInterrupts("epoll_ctl") { epoll_ctl(descriptor, Int32(operation), subject, &event) }
    }

    /// Waits at most `milliseconds` (−1: without limit) and calls `body` for every descriptor that is ready. A signal
    /// ends the wait early.
    public func wait(milliseconds: Int, _ body: (Event) -> Void) throws(SystemError) {
      let count = epoll_wait(descriptor, events, Int32(Self.capacity), Int32(clamping: milliseconds))
      if count < 0, errno != EINTR { throw SystemError(operation: "epoll_wait") }
      let broken = UInt32(SNAPSHOT_EPOLLERR) | UInt32(SNAPSHOT_EPOLLHUP)
      for index in 0..<max(Int(count), 0) {
        let event = events[index]
        var readiness: Interest = []
        if event.events & (UInt32(SNAPSHOT_EPOLLIN) | broken) != 0 { readiness.insert(.read) }
        if event.events & (UInt32(SNAPSHOT_EPOLLOUT) | broken) != 0 { readiness.insert(.write) }
        body(
          Event(
            descriptor: Int32(truncatingIfNeeded: event.data), readiness: readiness,
            hasEnded: event.events & UInt32(SNAPSHOT_EPOLLRDHUP) != 0))
      }
    }
  #endif
}

/// Interrupts the wait of a ``Poller`` from another thread, through an eventfd on Linux and a pipe on Darwin.
public final class Waker: Sendable {
  /// The descriptor to register with the poller, for reading.
  public var descriptor: Int32 { receivingEnd.number }
  private let receivingEnd: Descriptor
  #if canImport(Darwin)
    private let sendingEnd: Descriptor
    private var sending: Int32 { sendingEnd.number }
  #else
    private var sending: Int32 { receivingEnd.number }
  #endif

  /// Creates a waker whose descriptor is not readable yet.
  public init() throws(SystemError) {
    #if canImport(Darwin)
      var ends: [Int32] = [-1, -1]
      try retryingInterrupts("pipe") { pipe(&ends) }
      receivingEnd = Descriptor(taking: ends[0])
      sendingEnd = Descriptor(taking: ends[1])
      for end in ends {
        try retryingInterrupts("fcntl") { fcntl(end, F_SETFL, O_NONBLOCK) }
        try retryingInterrupts("fcntl") { fcntl(end, F_SETFD, FD_CLOEXEC) }
      }
    #else
      receivingEnd = try Descriptor("eventfd") {
        eventfd(0, Int32(SNAPSHOT_EFD_NONBLOCK) | Int32(SNAPSHOT_EFD_CLOEXEC))
      }
    #endif
  }

  /// Makes the descriptor readable. Thread-safe; can be called repeatedly.
  public func wake() {
    var one: UInt64 = 1
    // Apart from an interruption, this only fails if the counter or pipe is full, and then the descriptor is already
    // readable.
    while write(sending, &one, MemoryLayout<UInt64>.size) < 0, errno == EINTR {}
  }

  /// Makes the descriptor unreadable again.
  public func reset() {
    var scratch: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    while read(descriptor, &scratch, MemoryLayout.size(ofValue: scratch)) > 0 {
      #if !canImport(Darwin)
        // One read resets an eventfd.
        return
      #endif
    }
  }
}
