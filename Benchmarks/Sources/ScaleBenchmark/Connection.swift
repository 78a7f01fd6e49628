import Glibc

/// A connection for one request after the other. Blocks.
final class Connection {
  private let descriptor: Int32
  private var received: [UInt8] = []

  /// A response with all of its body.
  struct Answer {
    var status: Int
    var head: String
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The value of a field; `nil` if it is missing.
    func field(_ name: String) -> String? {
      for line in head.split(separator: "\r\n").dropFirst() {
        guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == name else { continue }
        return String(line[line.index(after: colon)...].drop { $0 == " " })
      }
      return nil
    }
  }

  /// Connects to a port of this machine; throws if nothing listens there.
  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failure("socket: \(Failure.lastError)") }
    var (one, limit): (Int32, timeval) = (1, timeval(tv_sec: 600, tv_usec: 0))
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in(port: port)
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected else {
      let failure = Failure("connect: \(Failure.lastError)")
      close(descriptor)
      throw failure
    }
  }

  deinit { close(descriptor) }

  /// Sends a request and returns the response. Throws unless its status is one of `expected`.
  @discardableResult
  func perform(
    _ method: String, _ target: String, fields: String = "", body: [UInt8] = [],
    expecting expected: Set<Int> = [200]
  ) throws -> Answer {
    let length = method == "GET" || method == "DELETE" ? "" : "Content-Length: \(body.count)\r\n"
    try send(Array("\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(fields)\(length)\r\n".utf8) + body)
    let answer = try receive()
    guard expected.contains(answer.status) else {
      throw Failure("\(method) \(target): status \(answer.status): \(answer.text.prefix(300))")
    }
    return answer
  }

  private func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.send(descriptor, buffer.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Failure("send: \(Failure.lastError)") }
      sent += count
    }
  }

  private func receive() throws -> Answer {
    while true {
      if let end = endOfHead {
        let head = String(decoding: received[..<end], as: UTF8.self)
        let words = head.prefix { $0 != "\r\n" }.split(separator: " ")
        guard words.count > 1, let status = Int(words[1]) else { throw Failure("no HTTP response") }
        var answer = Answer(status: status, head: head, body: [])
        let length = answer.field("content-length").flatMap { Int($0) } ?? 0
        while received.count < end + length { try receiveMore() }
        answer.body = Array(received[end..<end + length])
        received.removeFirst(end + length)
        if status >= 200 { return answer }
      } else {
        try receiveMore()
      }
    }
  }

  /// The number of bytes up to and including the empty line.
  private var endOfHead: Int? {
    guard received.count >= 4 else { return nil }
    let end: [UInt8] = [13, 10, 13, 10]
    for start in 0...received.count - 4 where received[start] == 13 && received[start..<start + 4] == end[...]
    {
      return start + 4
    }
    return nil
  }

  private func receiveMore() throws {
    var room = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &room, room.count, 0)
    guard count > 0 else {
      throw Failure(count == 0 ? "the server closed the connection" : "recv: \(Failure.lastError)")
    }
    received += room[..<count]
  }
}

extension sockaddr_in {
  /// The address of a port of this machine.
  init(port: UInt16) {
    self.init()
    sin_family = sa_family_t(AF_INET)
    sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    sin_port = port.bigEndian
  }
}

/// An error with a sentence for people.
struct Failure: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }

  static var lastError: String { String(cString: strerror(errno)) }
}
