public import Foundation
import SystemIO

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A proxy on the loopback address that forwards bytes and cuts connections as a test specifies. After a cut the client
/// sees a reset and the server an end; earlier bytes have been forwarded.
///
/// It stops listening when the last reference is released.
public final class CuttingProxy: Sendable {
  /// The position at which connections are cut.
  public enum Cut: Sendable, Hashable, CustomStringConvertible {
    /// None.
    case never
    /// Every connection, after this number of bytes to the server.
    case eachAfterSending(Int)
    /// One connection, after this number of bytes to the server on all connections together.
    case onceAfterSending(Int)
    /// One connection, after this number of bytes from the server on all connections together.
    case onceAfterReceiving(Int)

    /// A description for test results.
    public var description: String {
      switch self {
      case .never: "never"
      case .eachAfterSending(let count): "each after sending \(count)"
      case .onceAfterSending(let count): "once after sending \(count)"
      case .onceAfterReceiving(let count): "once after receiving \(count)"
      }
    }
  }

  /// The port, chosen by the system.
  public let port: UInt16
  private let listener: ListeningSocket
  private let state: State

  /// Starts to listen, and forwards connections to `server`, a port of the loopback address.
  public init(to server: UInt16, _ cut: Cut) throws {
    listener = try ListeningSocket()
    port = listener.port
    let (listener, state) = (listener, State(server, cut))
    self.state = state
    Thread.detachNewThread {
      while true {
        let client = accept(listener.descriptor, nil, nil)
        if client < 0 {
          if errno == EINTR || errno == ECONNABORTED { continue }
          break
        }
        let (port, budgets) = state.value.withLock { ($0.server, $0.budgets) }
        guard let upstream = Self.connect(to: port) else {
          _ = Descriptor(taking: client)
          continue
        }
        let pair = Pair(client: client, server: upstream) { state.value.withLock { $0.cuts += 1 } }
        Thread.detachNewThread {
          pair.pump(from: client, to: upstream, budgets.up) { count in
            state.value.withLock { $0.sentBytes += count }
          }
        }
        Thread.detachNewThread { pair.pump(from: upstream, to: client, budgets.down) { _ in } }
      }
    }
  }

  deinit { listener.stop() }

  /// `http://127.0.0.1:port`.
  public var url: URL { URL(string: "http://127.0.0.1:\(port)") ?? URL(filePath: "/") }
  /// The number of cut connections.
  public var count: Int { state.value.withLock { $0.cuts } }
  /// The number of bytes forwarded to the server.
  public var sentBytes: Int { state.value.withLock { $0.sentBytes } }

  /// Forwards new connections to `server`, and cuts them at `cut`.
  public func change(to server: UInt16, _ cut: Cut) {
    state.value.withLock { value in
      value.server = server
      (value.cut, value.shared) = (cut, Budget(of: cut))
    }
  }

  /// The state shared by the connections.
  private final class State: Sendable {
    struct Value: Sendable {
      var server: UInt16
      var cut: Cut
      var shared: Budget
      var cuts = 0
      var sentBytes = 0

      /// The numbers of bytes that a new connection can forward, to the server and from it.
      var budgets: (up: Budget, down: Budget) {
        switch cut {
        case .never: (Budget(nil), Budget(nil))
        case .eachAfterSending(let count): (Budget(count), Budget(nil))
        case .onceAfterSending: (shared, Budget(nil))
        case .onceAfterReceiving: (Budget(nil), shared)
        }
      }
    }

    let value: Lock<Value>

    init(_ server: UInt16, _ cut: Cut) {
      value = Lock(Value(server: server, cut: cut, shared: Budget(of: cut)))
    }
  }

  private static func connect(to port: UInt16) -> Int32? {
    #if canImport(Darwin)
      let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #else
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    #endif
    guard descriptor >= 0 else { return nil }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        makeConnection(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if result == 0 { return descriptor }
    _ = Descriptor(taking: descriptor)
    return nil
  }

  /// The number of bytes that can pass before the cut; connections can share it.
  private final class Budget: Sendable {
    private let left: Lock<Int?>

    init(_ count: Int?) { left = Lock(count) }

    /// Creates a budget that all connections share.
    convenience init(of cut: Cut) {
      switch cut {
      case .never, .eachAfterSending: self.init(nil)
      case .onceAfterSending(let count), .onceAfterReceiving(let count): self.init(count)
      }
    }

    /// Consumes up to `count` bytes. Returns how many can pass, and whether the cut follows them, which happens only
    /// once.
    func take(_ count: Int) -> (passing: Int, isCut: Bool) {
      left.withLock { left in
        guard let rest = left else { return (count, false) }
        guard count > rest else {
          left = rest - count
          return (count, false)
        }
        left = nil
        return (rest, true)
      }
    }
  }

  /// The two ends of a connection, used by two threads.
  private final class Pair: Sendable {
    private let client: Int32
    private let server: Int32
    private let didCut: @Sendable () -> Void
    private let state = Lock((ended: 0, isCut: false))

    init(client: Int32, server: Int32, didCut: @escaping @Sendable () -> Void) {
      self.client = client
      self.server = server
      self.didCut = didCut
    }

    func pump(from source: Int32, to target: Int32, _ budget: Budget, didPass: (Int) -> Void) {
      var buffer = [UInt8](repeating: 0, count: 64 * 1024)
      while true {
        let count = buffer.withUnsafeMutableBytes { recv(source, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { break }
        let (passing, isCut) = budget.take(count)
        let isSent = send(buffer.prefix(passing), to: target)
        didPass(passing)
        if isCut {
          state.withLock { $0.isCut = true }
          didCut()
        }
        if isCut || !isSent { break }
      }
      // The other thread wakes up and ends too. A half-closed connection is of no use to a test.
      shutdown(client, Int32(SHUT_RD))
      shutdown(server, Int32(SHUT_RDWR))
      let (isLast, isCut) = state.withLock { state in
        state.ended += 1
        return (state.ended == 2, state.isCut)
      }
      guard isLast else { return }
      if isCut {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(client, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout.size(ofValue: option)))
      }
      _ = Descriptor(taking: client)
      _ = Descriptor(taking: server)
    }

    private func send(_ bytes: ArraySlice<UInt8>, to target: Int32) -> Bool {
      var rest = bytes
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { bytes in
          #if canImport(Darwin)
            sendBytes(target, bytes.baseAddress, bytes.count, 0)
          #else
            sendBytes(target, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
          #endif
        }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }
  }
}

// Methods with the same names hide the functions.
private func makeConnection(
  _ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t
) -> Int32 { connect(descriptor, address, length) }
private func sendBytes(
  _ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32
) -> Int { send(descriptor, bytes, count, flags) }
