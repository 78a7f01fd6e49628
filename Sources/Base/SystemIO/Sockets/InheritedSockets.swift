#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The listening sockets that a service manager has opened for this process, as sd_listen_fds(3) describes: their number
/// is in `LISTEN_FDS`, the process for which they are in `LISTEN_PID`, and the first is the descriptor 3.
///
/// They remain open in the service manager when this process ends, so that connections wait for the next one.
public enum InheritedSockets {
  /// The most sockets that are accepted.
  public static let limit = 16
  private static let firstDescriptor: Int32 = 3

  /// Why the sockets can't be used.
  public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// `LISTEN_FDS` is not a number from 1 to ``InheritedSockets/limit``.
    case invalidCount(String)
    /// A descriptor is not a TCP or Unix socket that listens.
    case notListening(Int32)
    /// The system returned an error.
    case system(SystemError)

    /// A sentence for people.
    public var description: String {
      switch self {
      case .invalidCount(let text):
        "LISTEN_FDS is ‘\(text)’; a service manager can pass 1 to \(InheritedSockets.limit) sockets."
      case .notListening(let descriptor):
        "The descriptor \(descriptor), which the service manager has passed, is not a TCP or Unix socket that listens."
      case .system(let failure): "The sockets of the service manager can't be used: \(failure)"
      }
    }
  }

  /// Takes the sockets; none if the environment names none, or another process. Call it at most once, before the process
  /// opens other descriptors, because the first call takes ownership of them.
  /// - Parameter environment: the environment of the process.
  public static func take(from environment: [String: String]) throws(Failure) -> [Socket] {
    guard let text = environment["LISTEN_FDS"], environment["LISTEN_PID"] == "\(getpid())" else { return [] }
    guard let count = Int(text), (1...limit).contains(count) else { throw .invalidCount(text) }
    var sockets: [Socket] = []
    for descriptor in firstDescriptor..<firstDescriptor + Int32(count) {
      guard let address = address(ofListening: descriptor) else { throw .notListening(descriptor) }
      let isUnix = if case .unix = address { true } else { false }
      do { sockets.append(try Socket(inherited: descriptor, isUnix: isUnix)) } catch { throw .system(error) }
    }
    return sockets
  }

  /// The address of a descriptor that is a TCP or Unix socket and listens; `nil` for any other.
  private static func address(ofListening descriptor: Int32) -> ListenAddress? {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    for (option, wanted) in [(SO_TYPE, streamType), (SO_ACCEPTCONN, 1)] {
      guard getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0, value == wanted else {
        return nil
      }
    }
    var address = sockaddr_storage()
    length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let isNamed = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) == 0 }
    }
    return isNamed ? ListenAddress(address, length: length) : nil
  }

  #if canImport(Darwin)
    private static let streamType = SOCK_STREAM
  #else
    private static let streamType = Int32(SOCK_STREAM.rawValue)
  #endif
}
