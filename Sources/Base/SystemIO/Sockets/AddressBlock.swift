/// All addresses that begin with the same bits, as CIDR notation names them (RFC 4632 §3.1, RFC 4291 §2.3).
public struct AddressBlock: Hashable, Sendable, CustomStringConvertible {
  private let base: IPAddress
  private let prefixLength: Int

  /// Reads `10.0.0.0/8` or `2001:db8::/32`; an address alone is a block of one. A bit that is set behind the prefix
  /// is refused: whoever wrote it meant another block.
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

  /// Whether `address` is one of them. An IPv4 address counts as itself where it comes as a mapped one
  /// (`::ffff:a.b.c.d`).
  public func contains(_ address: IPAddress) -> Bool {
    [address, address.unmapped].contains {
      $0.isIPv6 == base.isIPv6 && $0.prefix(prefixLength) == base
    }
  }

  /// `10.0.0.0/8`.
  public var description: String { "\(base)/\(prefixLength)" }
}

extension IPAddress {
  /// The address's size in bits.
  fileprivate var width: Int { isIPv6 ? 128 : 32 }

  /// The address with all bits cleared behind the first `length`.
  fileprivate func prefix(_ length: Int) -> IPAddress {
    guard isIPv6 else { return IPAddress(v4: UInt32(truncatingIfNeeded: low) & ~(UInt32.max >> length)) }
    // A shift by the whole width leaves nothing, so each half takes the bits that fall into it.
    return IPAddress(
      high: high & ~(UInt64.max >> min(length, 64)), low: low & ~(UInt64.max >> max(length - 64, 0)))
  }
}
