#if canImport(Darwin)
  import Darwin
#else
  import CPlatform
  import Glibc
#endif

/// A non-blocking TCP or Unix socket that raises no `SIGPIPE` and is not passed to child processes.
///
/// Calls return `nil` if they would have to wait, and are repeated if a signal interrupts them. The object can be
/// shared between threads, but its owner must ensure that only one thread sends at a time.
public final class Socket: Sendable {
  /// The descriptor; -1 after ``close()``, so that a later call cannot reach another connection with the same number.
  public var descriptor: Int32 { number.value }
  private let number: Lock<Int32>
  /// Whether this is a Unix socket, which has no options of TCP.
  private let isUnix: Bool

  /// Takes ownership of an open descriptor, which must be non-blocking.
  init(taking descriptor: consuming Descriptor, isUnix: Bool = false) {
    number = Lock(descriptor.release())
    self.isUnix = isUnix
  }

  deinit { close() }

  /// Closes the descriptor. Further calls do nothing, and other operations then fail with `EBADF`. Releasing the last
  /// reference also closes it.
  public func close() {
    let former = number.exchange(-1)
    if former >= 0 { _ = Descriptor(taking: former) }
  }

  /// Reads available bytes, at most the size of `buffer`.
  /// - Returns: The number of bytes; 0 if the peer has finished sending; `nil` if no bytes are available.
  public func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
    try receive(into: buffer, flags: 0)
  }

  /// Like ``receive(into:)``, but leaves the bytes in the receive buffer.
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

  /// Sends as many of `bytes` as fit into the send buffer, and returns their number. `more` says whether more bytes
  /// follow at once, so that the system can delay a partial packet; Darwin ignores it.
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

  /// Sends up to `count` bytes of `file`, starting at `offset`, without copying them through this process. Returns the
  /// number of bytes sent; 0 if `offset` is at or after the end of the file.
  public func send(_ file: File, offset: Int64, count: Int) throws(SystemError) -> Int? {
    while true {
      #if canImport(Darwin)
        var sent = off_t(count)
        let failed = sendfile(file.descriptor, descriptor, off_t(offset), &sent, nil, 0) != 0
        // If it would block after sending some bytes, Darwin reports an error together with the number of bytes sent.
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

  /// Sets whether bytes that do not fill a segment wait for more, at most 200 ms (`TCP_CORK`). With `false`, those that
  /// wait are sent. Does nothing for a Unix socket, and on Darwin, where the corresponding option keeps them.
  public func sendFullSegments(_ value: Bool) throws(SystemError) {
    #if !canImport(Darwin)
      if isUnix { return }
      try set(TCP_CORK, level: Int32(IPPROTO_TCP), to: value ? 1 : 0)
    #endif
  }

  /// The number of sent bytes that the peer has not acknowledged; 0 if the system does not report it. For a Unix socket,
  /// the memory for those that the peer has not received, which is more.
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

  /// Ends sending: the peer reads the end of the stream. Receiving remains possible.
  public func shutdownSending() throws(SystemError) {
    try retryingInterrupts("shutdown") { shutdown(descriptor, Int32(SHUT_WR)) }
  }

  /// Makes the following ``close()`` discard unsent bytes and reset the connection.
  public func resetOnClose() throws(SystemError) {
    var linger = linger(l_onoff: 1, l_linger: 0)
    try retryingInterrupts("setsockopt") {
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }
  }

  /// Sets an option with an integer value.
  func set(_ option: Int32, level: Int32 = SOL_SOCKET, to value: Int32 = 1) throws(SystemError) {
    var value = value
    try retryingInterrupts("setsockopt") {
      setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
  }
}

extension Socket {
  /// The maximum number of unsent bytes that a connection buffers in the kernel. Bytes in flight do not count, so this
  /// does not reduce throughput. By default, Linux buffers almost 3 MB for a client that does not read: a thousand such
  /// clients exceed the memory that it has for all TCP connections.
  static let unsentBytes: Int32 = 256 << 10

  /// Opens `count` sockets that listen on the same address, so that the kernel distributes connections among them.
  ///
  /// The first is bound without `SO_REUSEPORT`, so that a port in use by any other process is refused (`EADDRINUSE`),
  /// even if that process shares its port. With port 0, the system chooses one free port for all.
  public static func listeners(at address: SocketAddress, count: Int) throws(SystemError) -> [Socket] {
    let first = try listener(at: address, sharing: false)
    guard case .network(let bound) = try first.localAddress else { return [first] }
    var all = [first]
    for _ in 1..<max(count, 1) { all.append(try listener(at: bound, sharing: true)) }
    return all
  }

  private static func listener(at address: SocketAddress, sharing: Bool) throws(SystemError) -> Socket {
    let socket = try unbound(family: address.family)
    try socket.set(SO_REUSEADDR)
    if sharing { try socket.set(SO_REUSEPORT) }
    // Accepted connections inherit this option from the listener.
    try socket.set(TCP_NOTSENT_LOWAT, level: Int32(IPPROTO_TCP), to: unsentBytes)
    if address.host.isIPv6 { try socket.set(IPV6_V6ONLY, level: Int32(IPPROTO_IPV6), to: 0) }
    try retryingInterrupts("bind", address.description) {
      address.withSystemAddress { bind(socket.descriptor, $0, $1) }
    }
    if !sharing { try socket.set(SO_REUSEPORT) }
    try retryingInterrupts("listen", address.description) { listen(socket.descriptor, 4096) }
    return socket
  }

  /// Returns `count` sockets that accept from the queue of this one, each with a descriptor of its own, so that several
  /// pollers can watch them. This socket is one of them.
  public func sharing(count: Int) throws(SystemError) -> [Socket] {
    var all = [self]
    for _ in 1..<max(count, 1) {
      let copy = try Descriptor("fcntl") { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
      all.append(Socket(taking: copy, isUnix: isUnix))
    }
    return all
  }

  /// Takes ownership of a descriptor that another process has opened.
  convenience init(inherited descriptor: Int32, isUnix: Bool) throws(SystemError) {
    try retryingInterrupts("fcntl") { fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    let flags = try retryingInterrupts("fcntl") { fcntl(descriptor, F_GETFL) }
    try retryingInterrupts("fcntl") { fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) }
    self.init(taking: Descriptor(taking: descriptor), isUnix: isUnix)
    if isUnix { return }
    // Accepted connections inherit this option from the listener.
    try set(TCP_NOTSENT_LOWAT, level: Int32(IPPROTO_TCP), to: Self.unsentBytes)
  }

  /// Opens a socket of the family `AF_INET`, `AF_INET6` or `AF_UNIX`.
  static func unbound(family: Int32) throws(SystemError) -> Socket {
    let isUnix = family == AF_UNIX
    #if canImport(Darwin)
      let descriptor = try Descriptor("socket") { Darwin.socket(family, SOCK_STREAM, 0) }
      let socket = Socket(taking: descriptor, isUnix: isUnix)
      try socket.prepareOnDarwin()
      return socket
    #else
      let kind = Int32(SOCK_STREAM.rawValue) | Int32(SNAPSHOT_SOCK_NONBLOCK) | Int32(SNAPSHOT_SOCK_CLOEXEC)
      return Socket(taking: try Descriptor("socket") { Glibc.socket(family, kind, 0) }, isUnix: isUnix)
    #endif
  }

  /// The address to which the socket is bound.
  public var localAddress: ListenAddress {
    get throws(SystemError) {
      var (storage, length) = (sockaddr_storage(), socklen_t(0))
      try retryingInterrupts("getsockname") {
        Self.withAddress(&storage) { address, space in
          defer { length = space.pointee }
          return getsockname(descriptor, address, space)
        }
      }
      guard let address = ListenAddress(storage, length: length) else {
        throw SystemError(operation: "getsockname", code: EAFNOSUPPORT)
      }
      return address
    }
  }

  /// Accepts the next waiting connection and sets `TCP_NODELAY`; `nil` if none is waiting. The `peer` is `nil` for a Unix
  /// socket, whose clients have no address.
  ///
  /// Skips connections that were closed while they waited. If no descriptor is left
  /// (``SystemError/isOutOfDescriptors``), it throws and the connection stays in the queue.
  public func accept() throws(SystemError) -> (socket: Socket, peer: SocketAddress?)? {
    while true {
      var storage = sockaddr_storage()
      let accepted = Self.withAddress(&storage) { address, length in
        #if canImport(Darwin)
          Darwin.accept(descriptor, address, length)
        #else
          accept4(descriptor, address, length, Int32(SNAPSHOT_SOCK_NONBLOCK) | Int32(SNAPSHOT_SOCK_CLOEXEC))
        #endif
      }
      if accepted >= 0 {
        let socket = Socket(taking: Descriptor(taking: accepted), isUnix: isUnix)
        #if canImport(Darwin)
          try socket.prepareOnDarwin()
        #endif
        if isUnix { return (socket, nil) }
        guard let peer = SocketAddress(storage) else { continue }
        // Fails only on Darwin, if the peer has already disconnected. The next read reports that.
        do { try socket.set(TCP_NODELAY, level: Int32(IPPROTO_TCP)) } catch  where error.code == EINVAL {}
        return (socket, peer)
      }
      switch errno {
      case EAGAIN, EWOULDBLOCK: return nil
      case EINTR, ECONNABORTED, EPROTO: continue
      default: throw SystemError(operation: "accept")
      }
    }
  }

  /// The descriptor number that the system would assign next: the lowest free one.
  public func nextDescriptor() throws(SystemError) -> Int32 {
    let copy = try Descriptor("fcntl") { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
    return copy.number
  }

  #if canImport(Darwin)
    private func prepareOnDarwin() throws(SystemError) {
      try retryingInterrupts("fcntl") { fcntl(descriptor, F_SETFL, O_NONBLOCK) }
      try retryingInterrupts("fcntl") { fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
      try set(SO_NOSIGPIPE)
    }
  #endif

  private static func withAddress<Result>(
    _ storage: inout sockaddr_storage,
    _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Result
  ) -> Result {
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
    }
  }
}

extension SystemError {
  /// Another socket is bound to this address and port.
  public var isAddressTaken: Bool { code == EADDRINUSE }
  /// The peer has disconnected.
  public var isDisconnected: Bool { code == ECONNRESET || code == EPIPE || code == ETIMEDOUT }
}
