#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Finds the addresses of hosts by the resolver of the system (`getaddrinfo`).
package enum HostResolver {
  /// The reason why a name has no address, in the words of the system.
  package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// Returns the addresses of `host`, which is a name or an address in any notation that the system knows, in the order
  /// in which they should be tried; never an empty list. Blocks until the name servers have answered.
  package static func addresses(of host: String) throws(Failure) -> [IPAddress] {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    #if canImport(Darwin)
      hints.ai_socktype = SOCK_STREAM
    #else
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #endif
    var first: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, nil, &hints, &first)
    guard code == 0 else { throw Failure(description: String(cString: gai_strerror(code))) }
    defer { freeaddrinfo(first) }
    var found: [IPAddress] = []
    var next = first
    while let entry = next?.pointee {
      next = entry.ai_next
      guard let address = entry.ai_addr, entry.ai_addrlen <= MemoryLayout<sockaddr_storage>.size else {
        continue
      }
      var storage = sockaddr_storage()
      withUnsafeMutableBytes(of: &storage) {
        $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen)))
      }
      if let socket = SocketAddress(storage), !found.contains(socket.host) { found.append(socket.host) }
    }
    guard !found.isEmpty else { throw Failure(description: "The name has no address") }
    return found
  }
}
