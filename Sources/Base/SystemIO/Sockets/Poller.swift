#if canImport(Darwin)
  import Darwin
#else
  import CPlatform
  import Glibc
#endif

/// Waits until descriptors can be read or written: epoll on Linux, kqueue on Darwin, level-triggered on both.
///
/// What is registered is remembered, so that a change costs a system call only where it changes something. Not
/// thread-safe: one thread owns it.
public final class Poller {
  /// What to wait for.
  public struct Interest: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt8
    /// An interest by its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Bytes or connections to take, or the end.
    public static let read = Interest(rawValue: 1)
    /// Room to send.
    public static let write = Interest(rawValue: 2)
  }

  /// A descriptor that is ready. An error or a hang-up shows as ready for both: the next call on it tells.
  public struct Event: Sendable, Hashable {
    /// The descriptor.
    public let descriptor: Int32
    /// What it is ready for.
    public let readiness: Interest
  }

  private let owned: Descriptor
  private var descriptor: Int32 { owned.number }
  private var registered: [Interest] = []
  private static let capacity = 256

  /// A poller that waits for nothing yet.
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

  /// Waits for `interest` at `subject` from now on; an empty one removes it. Call it with an empty one before the
  /// descriptor is closed; of a closed one (a negative number) `EBADF` is thrown.
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
      for (bit, filter) in [(Interest.read, EVFILT_READ), (.write, EVFILT_WRITE)]
      where former.contains(bit) != interest.contains(bit) {
        var event = kevent(
          ident: UInt(subject), filter: Int16(filter),
          flags: UInt16(interest.contains(bit) ? EV_ADD : EV_DELETE), fflags: 0, data: 0, udata: nil)
        try retryingInterrupts("kevent") { kevent(descriptor, &event, 1, nil, 0, nil) }
      }
    }

    /// Waits at most `milliseconds` (−1: for ever) and calls `body` for every descriptor that is ready. A signal
    /// ends the wait early.
    public func wait(milliseconds: Int, _ body: (Event) -> Void) throws(SystemError) {
      var time = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
      let count = kevent(descriptor, nil, 0, events, Int32(Self.capacity), milliseconds < 0 ? nil : &time)
      if count < 0, errno != EINTR { throw SystemError(operation: "kevent") }
      for index in 0..<max(Int(count), 0) {
        let event = events[index]
        body(
          Event(
            descriptor: Int32(event.ident), readiness: Int32(event.filter) == EVFILT_READ ? .read : .write))
      }
    }
  #else
    private let events: UnsafeMutablePointer<snapshot_epoll_event>

    private func change(_ subject: Int32, from former: Interest, to interest: Interest) throws(SystemError) {
      var event = snapshot_epoll_event()
      if interest.contains(.read) { event.events |= UInt32(SNAPSHOT_EPOLLIN) }
      if interest.contains(.write) { event.events |= UInt32(SNAPSHOT_EPOLLOUT) }
      event.data = UInt64(subject)
      // A removal is asked for, because a descriptor that is registered for nothing still reports hang-ups.
      let operation =
        interest.isEmpty
        ? SNAPSHOT_EPOLL_CTL_DEL : former.isEmpty ? SNAPSHOT_EPOLL_CTL_ADD : SNAPSHOT_EPOLL_CTL_MOD
      try retryingInterrupts("epoll_ctl") { epoll_ctl(descriptor, Int32(operation), subject, &event) }
    }

    /// Waits at most `milliseconds` (−1: for ever) and calls `body` for every descriptor that is ready. A signal
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
        body(Event(descriptor: Int32(truncatingIfNeeded: event.data), readiness: readiness))
      }
    }
  #endif
}
