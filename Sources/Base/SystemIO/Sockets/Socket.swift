#if canImport(Darwin)
  import Darwin
#else
  import CPlatform
  import Glibc
#endif
import Synchronization

/// A TCP socket that never waits, never raises `SIGPIPE` and is not handed on to child processes.
///
/// The calls answer `nil` where they would have had to wait, and repeat themselves when a signal interrupts them.
/// The object may be shared; that two threads don't send at once is up to its owner.
public final class Socket: Sendable {
  /// The descriptor; -1 once ``close()`` was called, so that no later call can reach another connection that was given
  /// the same number.
  public var descriptor: Int32 { number.load(ordering: .relaxed) }
  private let number: Atomic<Int32>

  /// Takes over an open descriptor that is already non-blocking.
  init(taking descriptor: consuming Descriptor) { number = Atomic(descriptor.release()) }

  deinit { close() }

  /// Closes the descriptor, once; the last reference does so too. Calls that follow fail with `EBADF`.
  public func close() {
    let former = number.exchange(-1, ordering: .acquiringAndReleasing)
    if former >= 0 { _ = Descriptor(taking: former) }
  }

  /// Reads what has come, at most the size of `buffer`; 0 where the other end sends nothing any more.
  public func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
    try receive(into: buffer, flags: 0)
  }

  /// Like ``receive(into:)``, but what was read stays to be read again.
  public func peek(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
    try receive(into: buffer, flags: Int32(MSG_PEEK))
  }

  private func receive(into buffer: UnsafeMutableRawBufferPointer, flags: Int32) throws(SystemError) -> Int? {
    while true {
      let count = recv(descriptor, buffer.baseAddress, buffer.count, flags)
      if count >= 0 { return count }
      if errno == EAGAIN || errno == EWOULDBLOCK { return nil }
      if errno != EINTR { throw SystemError(operation: "recv") }
    }
  }

  /// Sends what fits, and answers how many bytes that were.
  /// - Parameter more: more follows at once, so that a packet that isn't full may wait for it.
  public func send(_ bytes: UnsafeRawBufferPointer, more: Bool = false) throws(SystemError) -> Int? {
    while true {
      #if canImport(Darwin)
        let count = Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
      #else
        let flags = Int32(MSG_NOSIGNAL) | (more ? Int32(MSG_MORE) : 0)
        let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
      #endif
      if count >= 0 { return count }
      if errno == EAGAIN || errno == EWOULDBLOCK { return nil }
      if errno != EINTR { throw SystemError(operation: "send") }
    }
  }

  /// Sends up to `count` bytes of `file` from `offset` without a copy through this process; 0 where the file ends
  /// before.
  public func send(_ file: File, offset: Int64, count: Int) throws(SystemError) -> Int? {
    while true {
      #if canImport(Darwin)
        var sent = off_t(count)
        let failed = sendfile(file.descriptor, descriptor, off_t(offset), &sent, nil, 0) != 0
        // Darwin reports what went out before it had to wait as a failure with a count.
        if !failed || sent > 0 { return Int(sent) }
      #else
        var position = off_t(offset)
        let sent = sendfile(descriptor, file.descriptor, &position, count)
        if sent >= 0 { return sent }
      #endif
      if errno == EAGAIN || errno == EWOULDBLOCK { return nil }
      if errno != EINTR { throw SystemError(operation: "sendfile") }
    }
  }

  /// How many of the bytes that were sent the other end has not acknowledged; 0 where the system doesn't tell.
  public var unacknowledgedBytes: Int {
    var count: Int32 = 0
    #if canImport(Darwin)
      var length = socklen_t(MemoryLayout<Int32>.size)
      let failed = getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &length) != 0
    #else
      let failed = ioctl(descriptor, UInt(TIOCOUTQ), &count) != 0
    #endif
    return failed ? 0 : Int(count)
  }

  /// Tells the other end that nothing more will come; what it still sends can be read.
  public func shutdownSending() throws(SystemError) {
    try retryingInterrupts("shutdown") { shutdown(descriptor, Int32(SHUT_WR)) }
  }

  /// Makes the coming ``close()`` discard what is unsent and tell the other end so at once.
  public func resetOnClose() throws(SystemError) {
    var linger = linger(l_onoff: 1, l_linger: 0)
    try retryingInterrupts("setsockopt") {
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }
  }

  /// Sets an option whose value is a number.
  func set(_ option: Int32, level: Int32 = SOL_SOCKET, to value: Int32 = 1) throws(SystemError) {
    var value = value
    try retryingInterrupts("setsockopt") {
      setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
  }
}
