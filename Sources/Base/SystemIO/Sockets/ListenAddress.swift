#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The address at which a socket listens.
public enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
  /// A TCP socket.
  case network(SocketAddress)
  /// A Unix socket.
  case unix(SocketPath)

  /// The port; 0 for a Unix socket.
  public var port: UInt16 {
    if case .network(let address) = self { address.port } else { 0 }
  }

  /// Whether only this machine reaches the socket.
  public var isLocal: Bool {
    if case .network(let address) = self { address.host.isLoopback } else { true }
  }

  /// `127.0.0.1:8080`, `[::1]:8080` or `unix:/run/snapshot/http.sock`.
  public var description: String {
    switch self {
    case .network(let address): address.description
    case .unix(let path): path.description
    }
  }

  /// Creates an address from a structure of `length` bytes that the kernel filled in; `nil` if its family is neither IPv4
  /// nor IPv6 nor that of Unix sockets.
  init?(_ storage: sockaddr_storage, length: socklen_t) {
    if Int32(storage.ss_family) == AF_UNIX {
      self = .unix(SocketPath(storage, length: length))
    } else if let address = SocketAddress(storage) {
      self = .network(address)
    } else {
      return nil
    }
  }
}
