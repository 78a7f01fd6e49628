#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// An IPv4 or IPv6 address, without a port.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
  /// Whether this is an IPv6 address.
  public let isIPv6: Bool
  /// The address in host byte order. An IPv4 address is in the last 32 bits of `low`.
  let high: UInt64
  let low: UInt64

  /// `127.0.0.1`.
  public static let loopback = IPAddress(v4: 0x7F00_0001)

  init(v4: UInt32) {
    isIPv6 = false
    high = 0
    low = UInt64(v4)
  }

  init(high: UInt64, low: UInt64) {
    isIPv6 = true
    self.high = high
    self.low = low
  }

  /// Creates an address from its 4 or 16 bytes in network order; `nil` for any other number of them.
  public init?(bytes: some Collection<UInt8>) {
    switch bytes.count {
    case 4: self.init(v4: bytes.reduce(0) { $0 << 8 | UInt32($1) })
    case 16:
      self.init(
        high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
        low: bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) })
    default: return nil
    }
  }

  /// Parses dotted decimal notation or the text form of IPv6 (RFC 4291 §2.2), without brackets. Does not resolve host
  /// names.
  public init?(_ text: String) {
    var v4 = in_addr()
    // Passing the text itself would copy it to the heap.
    if text.withCString({ inet_pton(AF_INET, $0, &v4) }) == 1 {
      self.init(v4: UInt32(bigEndian: v4.s_addr))
      return
    }
    var v6 = in6_addr()
    guard text.withCString({ inet_pton(AF_INET6, $0, &v6) }) == 1 else { return nil }
    self.init(v6)
  }

  init(_ address: in6_addr) {
    let words = withUnsafeBytes(of: address) {
      (
        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
    self.init(high: words.0, low: words.1)
  }

  var in6: in6_addr {
    var address = in6_addr()
    withUnsafeMutableBytes(of: &address) {
      $0.storeBytes(of: high.bigEndian, toByteOffset: 0, as: UInt64.self)
      $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    return address
  }

  /// Whether the address reaches only this machine: `127.0.0.0/8` or `::1`.
  public var isLoopback: Bool {
    let address = client
    return address.isIPv6 ? high == 0 && low == 1 : address.low >> 24 == 127
  }

  /// The IPv4 address inside an IPv4-mapped address (`::ffff:a.b.c.d`); any other address is returned unchanged.
  public var unmapped: IPAddress {
    guard isIPv6, high == 0, low >> 32 == 0xFFFF else { return self }
    return IPAddress(v4: UInt32(truncatingIfNeeded: low))
  }

  /// The address by which clients are counted: an IPv4 address, mapped or not, or the first 64 bits of an IPv6 address,
  /// because a single subscriber controls all addresses that share them.
  public var client: IPAddress {
    let address = unmapped
    return address.isIPv6 ? IPAddress(high: high, low: 0) : address
  }

  /// The usual text form: `127.0.0.1`, `::1`.
  public var description: String {
    if !isIPv6 {
      // A fast path: each request writes its address to more than one log.
      var text: [UInt8] = []
      text.reserveCapacity(15)
      appendV4(to: &text)
      return String(decoding: text, as: UTF8.self)
    }
    var address = in6
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
      guard let base = buffer.baseAddress,
        let text = inet_ntop(AF_INET6, &address, base, socklen_t(buffer.count))
      else { return "::" }
      return String(cString: text)
    }
  }

  /// Appends the text form of an IPv4 address.
  func appendV4(to text: inout [UInt8]) {
    for shift in stride(from: 24, through: 0, by: -8) {
      text.append(decimal: UInt16(truncatingIfNeeded: low >> UInt64(shift) & 255))
      if shift > 0 { text.append(UInt8(ascii: ".")) }
    }
  }
}

extension [UInt8] {
  /// Appends the decimal digits of `number`.
  mutating func append(decimal number: UInt16) {
    if number >= 10 { append(decimal: number / 10) }
    append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
  }
}

/// All addresses with the same leading bits, in CIDR notation (RFC 4632 §3.1, RFC 4291 §2.3).
public struct AddressBlock: Hashable, Sendable, CustomStringConvertible {
  private let base: IPAddress
  private let prefixLength: Int

  /// Parses `10.0.0.0/8` or `2001:db8::/32`. A single address is a block of one. Returns `nil` if a bit after the
  /// prefix is set, because such a text is usually a mistake.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let base = IPAddress(String(parts[0])) else { return nil }
    var prefixLength = base.width
    if parts.count == 2 {
      guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let length = Int(parts[1]), length <= base.width
      else { return nil }
      prefixLength = length
    }
    guard base.prefix(prefixLength) == base else { return nil }
    self.base = base
    self.prefixLength = prefixLength
  }

  /// Whether the block contains `address`. An IPv4-mapped address (`::ffff:a.b.c.d`) is in the block also if its IPv4
  /// address is.
  public func contains(_ address: IPAddress) -> Bool {
    [address, address.unmapped].contains {
      $0.isIPv6 == base.isIPv6 && $0.prefix(prefixLength) == base
    }
  }

  /// The CIDR notation, such as `10.0.0.0/8`.
  public var description: String { "\(base)/\(prefixLength)" }
}

extension IPAddress {
  /// The address's size in bits.
  fileprivate var width: Int { isIPv6 ? 128 : 32 }

  /// The address with all bits after the first `length` cleared.
  fileprivate func prefix(_ length: Int) -> IPAddress {
    guard isIPv6 else { return IPAddress(v4: UInt32(truncatingIfNeeded: low) & ~(UInt32.max >> length)) }
    // Shifting by the full width yields 0, so each half masks only the bits that belong to it.
    return IPAddress(
      high: high & ~(UInt64.max >> min(length, 64)), low: low & ~(UInt64.max >> max(length - 64, 0)))
  }
}
