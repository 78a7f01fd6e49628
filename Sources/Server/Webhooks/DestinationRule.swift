package import SystemIO

/// Decides to which addresses events may be sent. A URL in the settings can name a host whose addresses someone else
/// controls, so that a request of the server reaches what only the server can reach: itself, its neighbours, or the
/// service that gives a virtual machine its credentials.
package struct DestinationRule: Sendable, Hashable {
  /// The blocks that are allowed although they are not public.
  package var allowedNetworks: [AddressBlock]

  /// Creates a rule that also allows `allowedNetworks`.
  package init(allowedNetworks: [AddressBlock] = []) { self.allowedNetworks = allowedNetworks }

  /// Whether the administrator named the network of `address`.
  func isNamed(_ address: IPAddress) -> Bool { allowedNetworks.contains { $0.contains(address) } }

  /// Whether events may be sent to `address`.
  package func allows(_ address: IPAddress) -> Bool { isNamed(address) || Self.isPublic(address) }

  /// Whether `address` belongs to a host of the public internet. An IPv6 address that contains an IPv4 address does not,
  /// whatever that is: what it reaches depends on the network.
  static func isPublic(_ address: IPAddress) -> Bool {
    guard !specialBlocks.contains(where: { $0.contains(address) }) else { return false }
    return !address.isIPv6 || globalUnicast.contains { $0.contains(address) }
  }

  /// The part of IPv6 whose addresses are given to hosts (RFC 4291 §2.4, and IANA's registry of global unicast
  /// addresses). The addresses of `::ffff:0:0/96` and `64:ff9b::/96` are outside.
  private static let globalUnicast = ["2000::/3"].compactMap(AddressBlock.init)

  /// The blocks of IANA's registries of special-purpose addresses (RFC 6890), with those of multicast.
  private static let specialBlocks = specialTexts.compactMap(AddressBlock.init)

  package static let specialTexts = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16",
    "192.175.48.0/24",
    "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    // Protocols, Teredo and documentation; 6to4, which contains IPv4 addresses; documentation; direct delegation.
    "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "2620:4f:8000::/48",
  ]
}
