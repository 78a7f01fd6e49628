import CBenchmark
import Glibc

/// A connection that sends a request, checks the response, and sends the next request.
final class Client {
  let descriptor: Int32
  let group: Int
  /// The TLS session; `nil` for plain HTTP.
  private let session: UnsafeMutableRawPointer?
  private let poller: Int32
  private var exchange = Exchange(head: [])
  private var sent = 0
  private var head: [UInt8] = []
  private var expected: Int?
  private var received = 0
  private var watchesWrite = false
  private(set) var began: UInt64 = 0
  private(set) var isBusy = false

  /// The result of sending or receiving in the loop.
  enum Outcome {
    case waiting
    case finished(bytes: Int)
  }

  /// Connects from one of many loopback addresses, so that limits per address do not apply.
  init(port: UInt16, index: Int, group: Int, poller: Int32, isSecure: Bool) throws {
    self.group = group
    self.poller = poller
    descriptor = try Self.connect(port: port, from: 0x7F00_0002 + UInt32(index / 100))
    var one: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    session = isSecure ? benchmark_tls_connect(descriptor) : nil
    if isSecure, session == nil { throw Failure("the TLS handshake failed") }
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    guard benchmark_watch(poller, descriptor, 1, 1) == 0 else { throw Failure("epoll: \(Failure.lastError)") }
  }

  deinit {
    if let session { benchmark_tls_free(session) }
    close(descriptor)
  }

  private func transmit(_ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    guard let session else { return Glibc.send(descriptor, bytes, count, flags) }
    return benchmark_tls_send(session, bytes, count)
  }

  private func receiveSome(_ room: UnsafeMutableRawBufferPointer) -> Int {
    guard let session else { return recv(descriptor, room.baseAddress, room.count, 0) }
    return benchmark_tls_receive(session, room.baseAddress, room.count)
  }

  /// Returns a socket that is connected from the address `host`.
  /// - Parameter receiveBuffer: the size of the receive buffer in bytes; `nil` for the system's default.
  static func connect(port: UInt16, from host: UInt32, receiveBuffer: Int32? = nil) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failure("socket: \(Failure.lastError)") }
    if var room = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
    }
    var source = address(host, 0)
    var target = address(0x7F00_0001, port)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isConnected = withUnsafePointer(to: &source) { source in
      withUnsafePointer(to: &target) { target in
        source.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) } == 0
          && target.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            Glibc.connect(descriptor, $0, size)
          } == 0
      }
    }
    guard isConnected else {
      let failure = Failure("connect: \(Failure.lastError)")
      close(descriptor)
      throw failure
    }
    return descriptor
  }

  private static func address(_ host: UInt32, _ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = host.bigEndian
    address.sin_port = port.bigEndian
    return address
  }

  func begin(_ exchange: Exchange, at now: UInt64) throws {
    self.exchange = exchange
    (sent, received, expected, began, isBusy) = (0, 0, nil, now, true)
    head.removeAll(keepingCapacity: true)
    try send()
  }

  /// Sends as much as the socket accepts, at most about a megabyte before other connections have their turn.
  func send() throws {
    let headCount = exchange.head.count
    let total = headCount + (exchange.body?.count ?? 0)
    var share = 1 << 20
    while sent < total, share > 0 {
      let count: Int
      if sent < headCount {
        let flags = Int32(MSG_NOSIGNAL) | (exchange.body == nil ? 0 : Int32(MSG_MORE))
        count = exchange.head.withUnsafeBytes {
          transmit($0.baseAddress.map { $0 + sent }, headCount - sent, flags)
        }
      } else {
        let offset = sent - headCount
        count = transmit(
          exchange.body?.bytes.baseAddress.map { $0 + offset }, min(256 << 10, total - sent),
          Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else {
        if errno == EAGAIN { break }
        throw Failure("send: \(Failure.lastError)")
      }
      sent += count
      share -= count
    }
    if watchesWrite != (sent < total) {
      watchesWrite = sent < total
      guard benchmark_watch(poller, descriptor, watchesWrite ? 3 : 1, 0) == 0 else {
        throw Failure("epoll: \(Failure.lastError)")
      }
    }
  }

  /// Receives bytes into the buffer `room`, and checks them.
  func receive(into room: UnsafeMutableRawBufferPointer) throws -> Outcome {
    // What a session holds is not reported by the poller, so it is emptied.
    for _ in 0..<(session == nil ? 8 : Int.max) {
      let count = receiveSome(room)
      guard count > 0 else {
        if count < 0, errno == EAGAIN { return .waiting }
        throw Failure(count == 0 ? "the server closed the connection" : "recv: \(Failure.lastError)")
      }
      guard isBusy else { throw Failure("a response without a request") }
      if case .finished(let bytes) = try take(UnsafeRawBufferPointer(rebasing: room[..<count])) {
        return .finished(bytes: bytes)
      }
      if count < room.count { return .waiting }
    }
    return .waiting
  }

  private func take(_ bytes: UnsafeRawBufferPointer) throws -> Outcome {
    guard let expected else { return try takeHead(bytes) }
    if let answer = exchange.answer, !answer.holds(bytes, at: received) {
      throw Failure("the response's body differs after byte \(received)")
    }
    received += bytes.count
    guard received <= expected else { throw Failure("the response is longer than its Content-Length") }
    guard received == expected else { return .waiting }
    isBusy = false
    return .finished(bytes: received + (exchange.body?.count ?? 0))
  }

  private func takeHead(_ bytes: UnsafeRawBufferPointer) throws -> Outcome {
    if !head.isEmpty {
      head += bytes
      let whole = head
      return try whole.withUnsafeBytes { try takeWholeHead($0) }
    }
    return try takeWholeHead(bytes)
  }

  private func takeWholeHead(_ bytes: UnsafeRawBufferPointer) throws -> Outcome {
    guard let answer = try AnswerHead(bytes) else {
      if head.isEmpty { head = Array(bytes) }
      return .waiting
    }
    guard answer.status == exchange.status else {
      throw Failure(
        "status \(answer.status) instead of \(exchange.status): \(String(decoding: bytes, as: UTF8.self))")
    }
    if let wanted = exchange.answer, answer.contentLength != wanted.count {
      throw Failure("\(answer.contentLength) bytes instead of \(wanted.count)")
    }
    expected = answer.contentLength
    return try take(UnsafeRawBufferPointer(rebasing: bytes[answer.length...]))
  }
}
