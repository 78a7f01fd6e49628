import Foundation
import SystemIO
import TestSupport
import Testing

@Suite struct SocketAddressTests {
  @Test(arguments: [
    ("127.0.0.1", "127.0.0.1:80"), ("0.0.0.0", "0.0.0.0:80"), ("255.1.2.3", "255.1.2.3:80"),
    ("localhost", "127.0.0.1:80"), ("::1", "[::1]:80"), ("[::1]", "[::1]:80"),
    ("2001:DB8:0:0:0:0:0:1", "[2001:db8::1]:80"), ("::ffff:1.2.3.4", "[::ffff:1.2.3.4]:80"),
  ]) func `addresses are parsed and formatted`(host: String, text: String) {
    #expect(SocketAddress(host: host, port: 80)?.description == text)
  }

  @Test(arguments: [
    "", "example.org", "1.2.3", "1.2.3.256", "[127.0.0.1]", "[::1", "::1]", "::g", "[]", " 1.2.3.4",
  ])
  func `an invalid address is rejected`(host: String) {
    #expect(SocketAddress(host: host, port: 80) == nil)
  }

  @Test func `clients are distinguished by the addresses of one subscriber`() throws {
    func client(_ text: String) throws -> IPAddress { try #require(IPAddress(text)).client }
    #expect(try client("10.0.0.1") != client("10.0.0.2"))
    #expect(try client("::ffff:10.0.0.1") == client("10.0.0.1"))
    #expect(try client("2001:db8:0:1::1") == client("2001:db8:0:1:ffff::2"))
    #expect(try client("2001:db8:0:1::1") != client("2001:db8:0:2::1"))
  }
}

@Suite struct SocketTests {
  private func listener() throws -> (Socket, UInt16) {
    let sockets = try Socket.listeners(at: SocketAddress(.loopback, port: 0), count: 1)
    let socket = try #require(sockets.first)
    return (socket, try socket.localAddress.port)
  }

  /// Waits until `socket` is ready for `interest`.
  private func receive(_ socket: Socket, upTo count: Int = 100) throws -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: count)
    guard let received = try buffer.withUnsafeMutableBytes({ try socket.receive(into: $0) }) else {
      return nil
    }
    return Array(buffer[..<received])
  }

  @Test func `no call ever waits`() throws {
    let (listener, port) = try listener()
    #expect(try listener.accept() == nil)
    let client = try RawHTTPClient(port: port)
    let socket = try accept(listener)
    #expect(try receive(socket) == nil)
    try client.send("hello")
    try wait(for: .read, at: socket)
    var first: UInt8 = 0
    #expect(try withUnsafeMutableBytes(of: &first) { try socket.peek(into: $0) } == 1)
    #expect(try receive(socket) == Array("hello".utf8))
    client.endSending()
    try wait(for: .read, at: socket)
    #expect(try receive(socket) == [])
  }

  @Test func `sending stops when the peer stops reading`() throws {
    let (listener, port) = try listener()
    let client = try RawHTTPClient(port: port)
    let socket = try accept(listener)
    let block = [UInt8](repeating: 0x61, count: 1 << 20)
    var sent = 0
    while let count = try block.withUnsafeBytes({ try socket.send($0) }) { sent += count }
    #expect(sent > 0)
    #expect(try client.receiveExactly(sent).count == sent)
    try socket.shutdownSending()
    #expect(try client.receive().isEmpty)
  }

  #if os(Linux)
    @Test func `the system buffers little for a client that does not read`() throws {
      let (listener, port) = try listener()
      let client = try RawHTTPClient(port: port, receiveBuffer: 4096)
      let socket = try accept(listener)
      let block = [UInt8](repeating: 1, count: 1 << 20)
      var sent = 0
      while let count = try block.withUnsafeBytes({ try socket.send($0) }) { sent += count }
      #expect(sent < 512 << 10)
      withExtendedLifetime(client) {}
    }
  #endif

  @Test func `bytes that the peer has not acknowledged are counted until it reads them`()
    throws
  {
    let (listener, port) = try listener()
    let client = try RawHTTPClient(port: port, receiveBuffer: 16 * 1024)
    let socket = try accept(listener)
    let block = [UInt8](repeating: 1, count: 64 * 1024)
    var sent = 0
    while let count = try block.withUnsafeBytes({ try socket.send($0) }) { sent += count }
    let waiting = socket.unacknowledgedBytes
    #expect(waiting > 0)
    #expect(waiting < sent)
    var received = 0
    while received < sent { received += try client.receive(upTo: sent - received).count }
    // The last acknowledgement can arrive shortly after the last byte.
    var rounds = 0
    while socket.unacknowledgedBytes > 0, rounds < 1_000_000 { rounds += 1 }
    #expect(socket.unacknowledgedBytes == 0)
  }

  @Test func `a disconnected peer is an error and not a signal`() throws {
    let (listener, port) = try listener()
    let client = try RawHTTPClient(port: port)
    let socket = try accept(listener)
    client.reset()
    try wait(for: .read, at: socket)
    #expect { try receive(socket) } throws: { ($0 as? SystemError)?.isDisconnected == true }
    #expect { try [1].withUnsafeBytes { try socket.send($0) } } throws: {
      ($0 as? SystemError)?.isDisconnected == true
    }
  }

  #if os(Linux)
    @Test func `bytes wait for a full segment until this ends`() throws {
      let (listener, port) = try listener()
      let client = try RawHTTPClient(port: port)
      let socket = try accept(listener)
      var haveWaited = false
      // The system lets them wait for 200 ms at most, which a busy machine can exceed.
      for _ in 0..<20 where !haveWaited {
        try socket.sendFullSegments(true)
        #expect(try Array("abc".utf8).withUnsafeBytes { try socket.send($0, more: false) } == 3)
        haveWaited = socket.unacknowledgedBytes == 3
        try socket.sendFullSegments(false)
        #expect(try client.receiveExactly(3) == Array("abc".utf8))
      }
      #expect(haveWaited)
    }
  #endif

  @Test func `a range of a file is sent`() throws {
    let folder = try TemporaryFolder()
    let file = try File(folder.path + "/file", .create(mode: 0o600))
    try file.write(Array("0123456789".utf8), at: 0)
    let (listener, port) = try listener()
    let client = try RawHTTPClient(port: port)
    let socket = try accept(listener)
    #expect(try Array("head ".utf8).withUnsafeBytes { try socket.send($0, more: true) } == 5)
    #expect(try socket.send(file, offset: 3, count: 4) == 4)
    #expect(try client.receiveExactly(9) == Array("head 3456".utf8))
    #expect(try socket.send(file, offset: 8, count: 10) == 2)
    #expect(try socket.send(file, offset: 10, count: 10) == 0)
  }

  @Test func `several listeners share a port that no other process gets`() throws {
    let listeners = try Socket.listeners(at: SocketAddress(.loopback, port: 0), count: 3)
    #expect(listeners.count == 3)
    let port = try listeners[0].localAddress.port
    let address = SocketAddress(.loopback, port: port)
    for listener in listeners { #expect(try listener.localAddress == .network(address)) }
    #expect { try Socket.listeners(at: address, count: 2) } throws: {
      ($0 as? SystemError)?.isAddressTaken == true
    }
    // Connections reach all listeners.
    let clients = try (0..<100).map { _ in try RawHTTPClient(port: address.port) }
    var counts = [0, 0, 0]
    while counts.reduce(0, +) < clients.count {
      for (index, listener) in listeners.enumerated() where try listener.accept() != nil {
        counts[index] += 1
      }
    }
    #expect(counts.allSatisfy { $0 > 0 })
  }

  @Test func `a socket can listen on an IPv6 address`() throws {
    let address = try #require(SocketAddress(host: "::1", port: 0))
    do {
      let bound = try #require(try Socket.listeners(at: address, count: 2).first).localAddress
      #expect(bound.description.hasPrefix("[::1]:"))
      #expect(bound.port != 0)
    } catch let error as SystemError where error.code == EADDRNOTAVAIL || error.code == EAFNOSUPPORT {
      // A machine without IPv6 reports this error.
    }
  }

  @Test func `closing twice closes once`() throws {
    let (socket, _) = try listener()
    socket.close()
    // The number may belong to another descriptor now, which must not be closed.
    let (other, port) = try listener()
    socket.close()
    _ = try RawHTTPClient(port: port)
    _ = try accept(other)
  }
}

@Suite struct ClosedSocketTests {
  @Test func `a closed socket does not reach another one with the same number`() throws {
    let address = SocketAddress(.loopback, port: 0)
    let socket = try #require(try Socket.listeners(at: address, count: 1).first)
    let poller = try Poller()
    socket.close()
    #expect(socket.descriptor == -1)
    #expect(socket.unacknowledgedBytes == 0)
    var byte: UInt8 = 0
    withUnsafeMutableBytes(of: &byte) { room in
      #expect(throws: SystemError(operation: "recv", code: EBADF)) { _ = try socket.receive(into: room) }
      #expect(throws: SystemError(operation: "send", code: EBADF)) {
        _ = try socket.send(UnsafeRawBufferPointer(room))
      }
    }
    #expect(throws: SystemError(operation: "accept", code: EBADF)) { _ = try socket.accept() }
    #expect(throws: SystemError(operation: "epoll_ctl", code: EBADF)) {
      try poller.set(.read, for: socket.descriptor)
    }
  }
}

@Suite struct PollerTests {
  @Test func `only registered conditions are reported, as long as they are met`() throws {
    let sockets = try Socket.listeners(at: SocketAddress(.loopback, port: 0), count: 1)
    let poller = try Poller()
    let descriptor = sockets[0].descriptor
    func ready() throws -> [Poller.Event] { try poller.events(within: 0) }
    try poller.set(.read, for: descriptor)
    #expect(try ready().isEmpty)
    let client = try RawHTTPClient(port: try sockets[0].localAddress.port)
    try poller.wait(milliseconds: 10_000) { _ in }
    let events = try ready()
    #expect(events.map(\.descriptor) == [descriptor])
    #expect(events.map(\.readiness) == [.read])
    #expect(try ready().count == 1)
    try poller.set([], for: descriptor)
    #expect(try ready().isEmpty)
    try poller.set([.read, .write], for: descriptor)
    #expect(try ready().first?.readiness.contains(.read) == true)
    withExtendedLifetime(client) {}
  }

  @Test func `an arrival is reported as readable, again for each later one, and with the end of the stream`()
    throws
  {
    let listener = try #require(try Socket.listeners(at: SocketAddress(.loopback, port: 0), count: 1).first)
    let client = try RawHTTPClient(port: try listener.localAddress.port)
    let socket = try accept(listener)
    let poller = try Poller()
    func receive() throws {
      var room: [UInt8] = [0, 0]
      try room.withUnsafeMutableBytes { _ = try socket.receive(into: $0) }
    }
    try client.send("a")
    try poller.set(.arrival, for: socket.descriptor)
    let first = try poller.events()
    #expect(first.map(\.readiness) == [.read])
    #expect(first.map(\.hasEnded) == [false])
    #if os(Linux)
      #expect(try poller.events(within: 0).isEmpty)
    #endif
    try client.send("b")
    #expect(try poller.events().map(\.readiness) == [.read])
    try receive()
    client.endSending()
    let last = try poller.events()
    #expect(last.map(\.readiness) == [.read])
    #if os(Linux)
      #expect(last.map(\.hasEnded) == [true])
    #endif
    // What was reported before is reported again for another interest.
    try poller.set(.read, for: socket.descriptor)
    #expect(try poller.events().map(\.readiness) == [.read])
    try poller.set([], for: socket.descriptor)
    socket.close()
  }
}

@Suite struct WakerTests {
  @Test func `another thread ends the wait, once for any number of calls`() async throws {
    let poller = try Poller()
    let waker = try Waker()
    try poller.set(.read, for: waker.descriptor)
    let thread = Thread { for _ in 0..<1000 { waker.wake() } }
    thread.start()
    var woken = 0
    try poller.wait(milliseconds: 10_000) { _ in woken += 1 }
    #expect(woken == 1)
    while !thread.isFinished { try poller.wait(milliseconds: 1) { _ in } }
    waker.reset()
    try poller.wait(milliseconds: 0) { _ in woken += 1 }
    #expect(woken == 1)
  }
}

@Suite struct ProcessSignalsTests {
  @Test func `writing to a closed connection is an error and does not end the process`() throws {
    ProcessSignals.ignoreBrokenPipeAndFileSizeLimit()
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    _ = Descriptor(taking: ends[0])
    #expect(write(ends[1], &ends, 1) == -1)
    #expect(errno == EPIPE)
    _ = Descriptor(taking: ends[1])
  }
}

private func wait(for interest: Poller.Interest, at socket: Socket) throws {
  let poller = try Poller()
  try poller.set(interest, for: socket.descriptor)
  #expect(try poller.events().contains { !$0.readiness.isDisjoint(with: interest) })
}

private func accept(_ listener: Socket) throws -> Socket {
  try wait(for: .read, at: listener)
  return try #require(try listener.accept()).socket
}

extension Poller {
  /// Waits, and returns the events.
  fileprivate func events(within milliseconds: Int = 10_000) throws -> [Event] {
    var events: [Event] = []
    try wait(milliseconds: milliseconds) { events.append($0) }
    return events
  }
}
