#if canImport(Darwin)
  import Darwin
#else
  import CPlatform
  import Glibc
#endif

/// Ends another thread's wait in a ``Poller``: an eventfd on Linux, a pipe on Darwin.
public final class Waker: Sendable {
  /// What the poller waits for, to be read.
  public var descriptor: Int32 { receivingEnd.number }
  private let receivingEnd: Descriptor
  #if canImport(Darwin)
    private let sendingEnd: Descriptor
    private var sending: Int32 { sendingEnd.number }
  #else
    private var sending: Int32 { receivingEnd.number }
  #endif

  /// A waker that nobody has woken yet.
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

  /// Makes the descriptor readable; from any thread, as often as you like.
  public func wake() {
    var one: UInt64 = 1
    // The only failure besides an interruption is a full counter or pipe, and then it is readable already.
    while write(sending, &one, MemoryLayout<UInt64>.size) < 0, errno == EINTR {}
  }

  /// Makes the descriptor unreadable again.
  public func reset() {
    var scratch: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    while read(descriptor, &scratch, MemoryLayout.size(ofValue: scratch)) > 0 {
      #if !canImport(Darwin)
        // One read empties an eventfd.
        return
      #endif
    }
  }
}
