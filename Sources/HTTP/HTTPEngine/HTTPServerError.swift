public import SystemIO

/// Why a server doesn't serve.
public enum HTTPServerError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The configured host is neither an address nor `localhost`.
  case invalidHost(String)
  /// The configured server name can't stand in a field.
  case invalidServerName(String)
  /// Somebody else listens there.
  case addressInUse(SocketAddress)
  /// The system refused for another reason.
  case cannotListen(SocketAddress, reason: String)
  /// The server runs or has run already.
  case alreadyStarted

  /// What went wrong, for people.
  public var description: String {
    switch self {
    case .invalidHost(let host): "“\(host)” is neither an IP address nor localhost."
    case .invalidServerName(let name): "“\(name.escapedForLog)” can't be the value of the field Server."
    case .addressInUse(let address):
      "Something else is listening at \(address): stop it, or choose another port (0 takes a free one)."
    case .cannotListen(let address, let reason): "The server can't listen at \(address): \(reason)."
    case .alreadyStarted: "The server was started already."
    }
  }
}
