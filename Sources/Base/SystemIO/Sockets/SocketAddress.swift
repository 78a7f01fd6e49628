#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The address and port to which a TCP socket is bound or connected.
public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
  /// The address.
  public let host: IPAddress
  /// The port. When binding, 0 requests a free port from the system.
  public var port: UInt16

  /// Creates an address from an IP address and a port.
  public init(_ host: IPAddress, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Parses an IP address, with brackets optional for IPv6. `localhost` is the IPv4 loopback address. Returns `nil` for
  /// other names, because resolving them could wait for the network.
  public init?(host: String, port: UInt16) {
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    let text = isBracketed ? String(host.dropFirst().dropLast()) : host
    guard let address = text == "localhost" ? .loopback : IPAddress(text) else { return nil }
    guard !isBracketed || address.isIPv6 else { return nil }
    self.init(address, port: port)
  }

  /// The form in a URL, such as `127.0.0.1:8080` or `[::1]:8080`.
  public var description: String {
    if host.isIPv6 { return "[\(host)]:\(port)" }
    var text: [UInt8] = []
    text.reserveCapacity(21)
    host.appendV4(to: &text)
    text.append(UInt8(ascii: ":"))
    text.append(decimal: port)
    return String(decoding: text, as: UTF8.self)
  }

  /// `AF_INET` or `AF_INET6`.
  var family: Int32 { host.isIPv6 ? AF_INET6 : AF_INET }

  /// Creates an address from a structure that the kernel filled in; `nil` if its family is neither IPv4 nor IPv6.
  init?(_ storage: sockaddr_storage) {
    switch Int32(storage.ss_family) {
    case AF_INET:
      let address = withUnsafeBytes(of: storage) { $0.load(as: sockaddr_in.self) }
      self.init(
        IPAddress(v4: UInt32(bigEndian: address.sin_addr.s_addr)), port: UInt16(bigEndian: address.sin_port))
    case AF_INET6:
      let address = withUnsafeBytes(of: storage) { $0.load(as: sockaddr_in6.self) }
      self.init(IPAddress(address.sin6_addr), port: UInt16(bigEndian: address.sin6_port))
    default:
      return nil
    }
  }

  /// Calls `body` with the address as a system structure, which is valid only during the call.
  func withSystemAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var storage = sockaddr_storage()
    let length = withUnsafeMutableBytes(of: &storage) { bytes -> Int in
      if host.isIPv6 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = host.in6
        #if canImport(Darwin)
          address.sin6_len = UInt8(MemoryLayout<sockaddr_in6>.size)
        #endif
        bytes.storeBytes(of: address, as: sockaddr_in6.self)
        return MemoryLayout<sockaddr_in6>.size
      }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(truncatingIfNeeded: host.low).bigEndian
      #if canImport(Darwin)
        address.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
      #endif
      bytes.storeBytes(of: address, as: sockaddr_in.self)
      return MemoryLayout<sockaddr_in>.size
    }
    return withUnsafePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
    }
  }
}
