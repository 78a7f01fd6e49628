#if canImport(Darwin)
  import Darwin
#else
  import CPlatform
  import Glibc
#endif

extension Socket {
  /// How much of what a connection is given to send waits in the system's memory until it may be sent, in bytes; what
  /// is on its way doesn't count, so that no line is slower for it. By itself Linux takes nearly 3 MB for one that reads
  /// nothing: a thousand such are more than it has for all connections together.
  static let unsentBytes: Int32 = 256 << 10

  /// Opens `count` sockets that listen at one address, so that the kernel spreads connections over their owners.
  ///
  /// The first is bound without sharing: a port that anybody else listens at is refused (`EADDRINUSE`) even where
  /// that other process shares its port. A port of 0 becomes one free port for all.
  public static func listeners(at address: SocketAddress, count: Int) throws(SystemError) -> [Socket] {
    let first = try listener(at: address, sharing: false)
    let bound = try first.localAddress
    var all = [first]
    for _ in 1..<max(count, 1) { all.append(try listener(at: bound, sharing: true)) }
    return all
  }

  private static func listener(at address: SocketAddress, sharing: Bool) throws(SystemError) -> Socket {
    let socket = try unbound(family: address.family)
    try socket.set(SO_REUSEADDR)
    if sharing { try socket.set(SO_REUSEPORT) }
    // Connections have it from their listener.
    try socket.set(TCP_NOTSENT_LOWAT, level: Int32(IPPROTO_TCP), to: unsentBytes)
    if address.host.isIPv6 { try socket.set(IPV6_V6ONLY, level: Int32(IPPROTO_IPV6), to: 0) }
    try retryingInterrupts("bind", address.description) {
      address.withSystemAddress { bind(socket.descriptor, $0, $1) }
    }
    if !sharing { try socket.set(SO_REUSEPORT) }
    try retryingInterrupts("listen", address.description) { listen(socket.descriptor, 4096) }
    return socket
  }

  private static func unbound(family: Int32) throws(SystemError) -> Socket {
    #if canImport(Darwin)
      let socket = Socket(taking: try Descriptor("socket") { Darwin.socket(family, SOCK_STREAM, 0) })
      try socket.prepareOnDarwin()
      return socket
    #else
      let kind = Int32(SOCK_STREAM.rawValue) | Int32(SNAPSHOT_SOCK_NONBLOCK) | Int32(SNAPSHOT_SOCK_CLOEXEC)
      return Socket(taking: try Descriptor("socket") { Glibc.socket(family, kind, 0) })
    #endif
  }

  /// Where the socket is bound.
  public var localAddress: SocketAddress {
    get throws(SystemError) {
      var storage = sockaddr_storage()
      try retryingInterrupts("getsockname") {
        Self.withAddress(&storage) { getsockname(descriptor, $0, $1) }
      }
      guard let address = SocketAddress(storage) else {
        throw SystemError(operation: "getsockname", code: EAFNOSUPPORT)
      }
      return address
    }
  }

  /// Takes the next waiting connection, with `TCP_NODELAY` set; `nil` where there is none.
  ///
  /// A connection that broke while it waited is passed over. Out of descriptors
  /// (``SystemError/isOutOfDescriptors``), the connection stays in the queue.
  public func accept() throws(SystemError) -> (socket: Socket, peer: SocketAddress)? {
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
        let socket = Socket(taking: Descriptor(taking: accepted))
        #if canImport(Darwin)
          try socket.prepareOnDarwin()
        #endif
        guard let peer = SocketAddress(storage) else { continue }
        // Fails on Darwin alone, where the other end is gone already: reading will tell.
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

  /// The descriptor that the system would give next: the lowest that is free.
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
  /// Somebody else is bound to that address and port.
  public var isAddressTaken: Bool { code == EADDRINUSE }
  /// The other end of a connection is gone.
  public var isDisconnected: Bool { code == ECONNRESET || code == EPIPE || code == ETIMEDOUT }
}
