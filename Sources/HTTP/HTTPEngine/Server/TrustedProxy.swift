public import SystemIO

/// A proxy that is trusted to name the client of a request or of a connection.
public enum TrustedProxy: Sendable, Hashable, CustomStringConvertible {
  /// Any with an address in the block.
  case block(AddressBlock)
  /// Any that connects to a Unix socket.
  case unix

  /// Parses `unix`, an address, or a block such as `10.0.0.0/8`.
  public init?(_ text: String) {
    if text == Self.unix.description {
      self = .unix
    } else if let block = AddressBlock(text) {
      self = .block(block)
    } else {
      return nil
    }
  }

  /// Whether this is a peer at `address`, or with `nil`, one that has connected to a Unix socket.
  public func contains(_ address: IPAddress?) -> Bool {
    switch self {
    case .block(let block): address.map(block.contains) ?? false
    case .unix: address == nil
    }
  }

  /// The text that is parsed. `unix` is also the name of a client of a Unix socket, for handlers and logs.
  public var description: String {
    switch self {
    case .block(let block): block.description
    case .unix: "unix"
    }
  }
}
