#if canImport(Darwin)
  import Darwin
#else
  import CPlatform
  import Glibc
#endif

/// Tells the service manager that started this process about its state, as sd_notify(3) describes: datagrams to the
/// socket in `NOTIFY_SOCKET`. Without that variable, nothing is sent.
public struct ServiceManager: Sendable {
  /// A state of the service.
  public enum State: Sendable, Hashable {
    /// The service answers requests.
    case ready
    /// The service reads its settings again; ``ServiceManager/State/ready`` follows.
    case reloading
    /// The service is shutting down.
    case stopping
    /// The service works. Must be sent more often than ``ServiceManager/watchdogInterval``.
    case alive
  }

  private let address: String?
  /// The time after which the service manager ends a service that does not send
  /// ``ServiceManager/State/alive``; `nil` if it does not expect that.
  public let watchdogInterval: Duration?

  /// Reads the variables that the service manager has set in the environment of the process.
  public init(_ environment: [String: String]) {
    address = environment["NOTIFY_SOCKET"].flatMap { $0.first == "/" || $0.first == "@" ? $0 : nil }
    let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
    watchdogInterval = environment["WATCHDOG_USEC"].flatMap { Int64($0) }
      .flatMap { $0 > 0 && isMeant ? .microseconds($0) : nil }
  }

  /// The longest time that ``ServiceManager/tell(_:)`` blocks, in seconds.
  private static let patience = 5

  /// Sends a state. Blocks for at most 5 seconds while the service manager has too many unread messages, and throws
  /// then. ``ServiceManager/State/alive`` never blocks, because the next one has the same meaning.
  public func tell(_ state: State) throws(SystemError) {
    switch state {
    case .ready: try send("READY=1")
    case .reloading: try send("RELOADING=1\nMONOTONIC_USEC=\(SystemClock.monotonicNanoseconds / 1000)")
    case .stopping: try send("STOPPING=1")
    case .alive: try send("WATCHDOG=1", waits: false)
    }
  }

  private func send(_ text: String, waits: Bool = true) throws(SystemError) {
    guard let path = address else { return }
    var target = sockaddr_un()
    target.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: target.sun_path) else {
      throw SystemError(operation: "connect", path: path, code: ENAMETOOLONG)
    }
    withUnsafeMutableBytes(of: &target.sun_path) { buffer in
      buffer.copyBytes(from: bytes)
      // The name of a socket without a file begins with a zero byte.
      if path.first == "@" { buffer[0] = 0 }
    }
    // The length of a name without a file counts, because it is not terminated.
    let length = socklen_t(
      MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: target.sun_path) + bytes.count)
    #if canImport(Darwin)
      let socket = try Descriptor("socket", path) { Darwin.socket(AF_UNIX, SOCK_DGRAM, 0) }
      let flags = waits ? 0 : Int32(MSG_DONTWAIT)
    #else
      let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SNAPSHOT_SOCK_CLOEXEC)
      let socket = try Descriptor("socket", path) { Glibc.socket(AF_UNIX, kind, 0) }
      let flags = Int32(MSG_NOSIGNAL) | (waits ? 0 : Int32(MSG_DONTWAIT))
    #endif
    var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
    try retryingInterrupts("setsockopt", path) {
      setsockopt(
        socket.number, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout.size(ofValue: limit)))
    }
    let message = Array(text.utf8)
    try retryingInterrupts("sendto", path) {
      withUnsafePointer(to: &target) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          sendto(socket.number, message, message.count, flags, $0, length)
        }
      }
    }
  }
}
