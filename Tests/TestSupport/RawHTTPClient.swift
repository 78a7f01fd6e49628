import Foundation
public import SystemIO

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A client of TCP or a Unix socket that sends exactly the given bytes and receives any bytes. Every wait has a timeout.
/// It blocks the calling thread: in asynchronous tests call it through ``RawHTTPClient/run(_:)``.
public final class RawHTTPClient: Sendable {
  /// The error of a failed call.
  public struct Failure: Error, CustomStringConvertible {
    /// A description of the error.
    public let description: String
  }

  /// A parsed response.
  public struct Response: Sendable {
    /// The status line and the fields, without the empty line.
    public var head: String
    /// The body, decoded if it was chunked.
    public var body: [UInt8]

    /// The status code.
    public var status: Int { Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0 }
    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The value of a field; `nil` if it is missing.
    public func field(_ name: String) -> String? {
      for line in head.split(separator: "\r\n").dropFirst() {
        let parts = line.split(separator: ":", maxSplits: 1)
        if parts.count == 2, parts[0].lowercased() == name.lowercased() {
          return String(parts[1].drop { $0 == " " })
        }
      }
      return nil
    }
  }

  /// Whether clients use TLS unless they are told otherwise, so that a test can run with both.
  @TaskLocal public static var usesTLS = false

  /// The protection of the connection; `nil` for plain HTTP.
  public let session: TLSClientSession?
  private let owned: Descriptor
  private var descriptor: Int32 { owned.number }

  /// Connects to a port of the IPv4 loopback address.
  /// - Parameters:
  ///   - receiveBuffer: the size of the kernel's receive buffer in bytes. A small one is full early.
  ///   - preface: bytes to send before a handshake, such as those of a proxy.
  ///   - tls: the settings of TLS; `nil` for plain HTTP.
  public init(
    port: UInt16, timeoutSeconds: Int = 300, receiveBuffer: Int32? = nil, preface: [UInt8] = [],
    tls: TLSClientSession.Settings? = RawHTTPClient.usesTLS ? .init() : nil
  ) throws {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = try withUnsafePointer(to: &address) {
      try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        try Self.connect(
          AF_INET, $0, socklen_t(MemoryLayout<sockaddr_in>.size), timeoutSeconds, receiveBuffer)
      }
    }
    owned = Descriptor(taking: connected)
    if tls != nil {
      // Records are several writes. What a client has sent before it disconnects must not wait in its system.
      var one: Int32 = 1
      setsockopt(owned.number, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }
    let descriptor = owned.number
    try Self.send(preface, to: descriptor)
    session = try tls.map { try TLSClientSession($0, on: descriptor, timeoutSeconds: timeoutSeconds) }
  }

  /// Connects to a Unix socket. The parameters are those of the other initializer.
  public init(
    path: SocketPath, timeoutSeconds: Int = 300, preface: [UInt8] = [],
    tls: TLSClientSession.Settings? = RawHTTPClient.usesTLS ? .init() : nil
  ) throws {
    owned = Descriptor(
      taking: try path.withSystemAddress { try Self.connect(AF_UNIX, $0, $1, timeoutSeconds, nil) })
    let descriptor = owned.number
    try Self.send(preface, to: descriptor)
    session = try tls.map { try TLSClientSession($0, on: descriptor, timeoutSeconds: timeoutSeconds) }
  }

  private static func connect(
    _ family: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t, _ timeoutSeconds: Int,
    _ receiveBuffer: Int32?
  ) throws -> Int32 {
    let owned = try Descriptor("socket") { socket(family, Self.streamKind, 0) }
    let descriptor = owned.number
    var timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    if var size = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    guard systemConnect(descriptor, address, length) == 0 else {
      throw Failure(description: "connect: errno \(errno)")
    }
    return owned.release()
  }

  /// Runs blocking work outside the cooperative thread pool, but in the caller's task, so that failed expectations
  /// belong to the caller's test.
  public static func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws
    -> Result
  {
    try await withTaskExecutorPreference(ThreadExecutor()) { try work() }
  }

  /// Runs every job on a thread of its own.
  private final class ThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      Thread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }.start()
    }
  }

  /// Sends all of `text`.
  public func send(_ text: String) throws { try send(Array(text.utf8)) }

  /// Sends all of `bytes`.
  public func send(_ bytes: [UInt8]) throws {
    if let session { return try session.send(bytes) }
    try Self.send(bytes, to: descriptor)
  }

  private static func send(_ bytes: [UInt8], to descriptor: Int32) throws {
    var sent = 0
    while sent < bytes.count {
      let count = transmit(bytes[sent...], to: descriptor, flags: 0)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Failure(description: "send: errno \(errno) after \(sent) bytes") }
      sent += count
    }
  }

  private static func transmit(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, flags: Int32) -> Int {
    bytes.withUnsafeBytes { buffer in
      #if canImport(Darwin)
        Darwin.send(descriptor, buffer.baseAddress, buffer.count, flags)
      #else
        Glibc.send(descriptor, buffer.baseAddress, buffer.count, flags | Int32(MSG_NOSIGNAL))
      #endif
    }
  }

  /// Bytes to send if their value does not matter.
  public static let filler = [UInt8](repeating: 0x61, count: 64 * 1024)

  /// Sends as much as possible without blocking, at most `limit` bytes, and returns the number of bytes sent.
  /// - Parameters:
  ///   - block: the bytes to send repeatedly.
  ///   - start: the number of bytes sent before.
  public func sendWithoutWaiting(
    _ block: [UInt8] = RawHTTPClient.filler, from start: Int = 0, upTo limit: Int
  ) -> Int {
    var sent = 0
    while sent < limit {
      let rest = block[((start + sent) % block.count)...]
      let count = transmitAtOnce(rest.prefix(limit - sent))
      if count <= 0 { break }
      sent += count
    }
    return sent
  }

  private func transmitAtOnce(_ bytes: ArraySlice<UInt8>) -> Int {
    guard let session else { return Self.transmit(bytes, to: descriptor, flags: Int32(MSG_DONTWAIT)) }
    do { return try session.sendSome(bytes) ?? 0 } catch { return -1 }
  }

  /// Sends until no byte was accepted for half a second, at most `limit` bytes, and returns the number of bytes sent.
  /// - Parameter block: the bytes to send repeatedly.
  public func sendUntilStuck(_ block: [UInt8] = RawHTTPClient.filler, upTo limit: Int) -> Int {
    var sent = 0
    while sent < limit {
      sent += sendWithoutWaiting(block, from: sent, upTo: limit - sent)
      var subject = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      if poll(&subject, 1, 500) == 0 { break }
    }
    return sent
  }

  /// Closes the sending side.
  public func endSending() {
    session?.endSending()
    shutdown(descriptor, Int32(SHUT_WR))
  }

  /// Resets the connection.
  public func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout.size(ofValue: option)))
    // The descriptor remains open until the end, so that its number is not reused.
    let other = socket(AF_INET, Self.streamKind, 0)
    guard other >= 0 else { return }
    dup2(other, descriptor)
    _ = Descriptor(taking: other)
  }

  private static var streamKind: Int32 {
    #if canImport(Darwin)
      SOCK_STREAM
    #else
      Int32(SOCK_STREAM.rawValue)
    #endif
  }

  /// Receives the next bytes, at most `count`; empty at the end.
  public func receive(upTo count: Int = 64 * 1024) throws -> [UInt8] {
    if let session { return try session.receive(upTo: count) }
    var failure: Int32?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while true {
        let received = recv(descriptor, buffer.baseAddress, count, 0)
        if received < 0, errno == EINTR { continue }
        if received < 0 { failure = errno }
        filled = max(0, received)
        return
      }
    }
    if let failure { throw Failure(description: "recv: errno \(failure)") }
    return bytes
  }

  /// Receives everything until the peer closes.
  public func receiveAll() throws -> [UInt8] {
    var all: [UInt8] = []
    while true {
      let more = try receive()
      if more.isEmpty { return all }
      all += more
    }
  }

  /// Receives exactly one response.
  /// - Parameter toHEAD: whether the request was `HEAD`, so that there is no body.
  public func receiveResponse(toHEAD: Bool = false) throws -> Response {
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) { head += try receiveExactly(1) }
    var response = Response(head: String(decoding: head.dropLast(4), as: UTF8.self), body: [])
    if toHEAD || response.status / 100 == 1 || response.status == 204 || response.status == 304 {
      return response
    }
    if response.field("Transfer-Encoding") == "chunked" {
      while true {
        var line: [UInt8] = []
        while !line.suffix(2).elementsEqual("\r\n".utf8) { line += try receiveExactly(1) }
        guard let size = Int(String(decoding: line.dropLast(2), as: UTF8.self), radix: 16) else {
          throw Failure(description: "a malformed chunk")
        }
        response.body += try receiveExactly(size)
        _ = try receiveExactly(2)
        if size == 0 { return response }
      }
    }
    if let length = response.field("Content-Length").flatMap(Int.init) {
      response.body = try receiveExactly(length)
    } else {
      response.body = try receiveAll()
    }
    return response
  }

  /// Receives exactly `count` bytes.
  public func receiveExactly(_ count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      let more = try receive(upTo: min(count - bytes.count, 1 << 20))
      guard !more.isEmpty else {
        throw Failure(description: "the end after \(bytes.count) of \(count) bytes")
      }
      bytes += more
    }
    return bytes
  }

  /// Waits until the peer closes, and drops bytes before that. Returns `false` if it does not close in time.
  public func isClosedByPeer() -> Bool {
    do {
      _ = try receiveAll()
      return true
    } catch {
      return false
    }
  }
}

/// The system's function, which has the name of a method.
private func systemConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t)
  -> Int32
{
  connect(descriptor, address, length)
}
