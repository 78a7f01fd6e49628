#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Where a TCP socket is bound or connected: an address and a port.
public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
  /// The address.
  public let host: IPAddress
  /// The port; 0 asks the system for a free one.
  public var port: UInt16

  /// An address by its parts.
  public init(_ host: IPAddress, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Reads an address in its text form, with or without brackets; `localhost` is the IPv4 loopback address. Other
  /// names are refused, because looking them up could wait for a network.
  public init?(host: String, port: UInt16) {
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    let text = isBracketed ? String(host.dropFirst().dropLast()) : host
    guard let address = text == "localhost" ? .loopback : IPAddress(text) else { return nil }
    guard !isBracketed || address.isIPv6 else { return nil }
    self.init(address, port: port)
  }

  /// `127.0.0.1:8080`, `[::1]:8080`: what stands in a URL.
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

  /// Reads what the kernel filled in; `nil` for a family that is neither IPv4 nor IPv6.
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

  /// The address as the kernel wants it, valid only during `body`.
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
