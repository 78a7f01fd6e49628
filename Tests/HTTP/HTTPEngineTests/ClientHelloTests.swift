import Foundation
import HTTPEngine
import SystemIO
import TestSupport
import Testing

@testable import HTTPTLS

/// The beginning of a TLS connection, for which a server keeps nothing but the received bytes.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct ClientHelloTests {
  /// A server's session on a connected socket, and its client.
  private struct Pair {
    let socket: Socket
    let session: any SecureSession
    let client: RawHTTPClient

    init() throws {
      let listener = try ClientHelloTests.listen()
      client = try RawHTTPClient(port: try listener.localAddress.port, tls: nil)
      socket = try #require(try listener.accept()).socket
      session = try TestCertificate.shared.get().server.makeSession(on: socket)
    }

    /// Continues the handshake when the client's bytes have arrived.
    func shakeHands() -> HandshakeProgress {
      var subject = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
      #expect(poll(&subject, 1, 60_000) == 1)
      return session.shakeHands()
    }
  }

  private static func listen() throws -> Socket {
    try Socket.listeners(at: try #require(SocketAddress(host: "127.0.0.1", port: 0)), count: 1)[0]
  }

  /// The first bytes of an ordinary client.
  private static func hello(version: Int) throws -> [UInt8] {
    let listener = try listen()
    var settings = TLSClientSession.Settings()
    settings.version = version
    // The client sends them, and does not wait for an answer.
    #expect(throws: RawHTTPClient.Failure.self) {
      try RawHTTPClient(port: try listener.localAddress.port, timeoutSeconds: 0, tls: settings)
    }
    let server = try #require(try listener.accept()).socket
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = try bytes.withUnsafeMutableBytes { try server.receive(into: $0) }
    return Array(bytes.prefix(count ?? 0))
  }

  private static func state(of bytes: [UInt8]) -> ClientHelloBuffer.State {
    var buffer = ClientHelloBuffer()
    bytes.withUnsafeBytes { buffer.append($0) }
    return buffer.state
  }

  /// Records with parts of a message of at most this size.
  private static func records(_ message: [UInt8], size: Int) -> [UInt8] {
    stride(from: 0, to: message.count, by: size).flatMap { start -> [UInt8] in
      let part = message[start...].prefix(size)
      return [22, 3, 1, UInt8(part.count >> 8), UInt8(part.count & 0xFF)] + part
    }
  }

  /// A message with a body of this many bytes.
  private static func message(_ count: Int) -> [UInt8] {
    [1, UInt8(count >> 16), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
      + [UInt8](repeating: 0, count: count)
  }

  @Test(arguments: [2, 3]) func `an ordinary hello is complete with its last byte`(version: Int) throws {
    let hello = try Self.hello(version: version)
    #expect(hello.count > 100)
    for count in 0..<hello.count { #expect(Self.state(of: Array(hello[..<count])) == .incomplete) }
    #expect(Self.state(of: hello) == .complete)
    #expect(Self.state(of: hello + [1, 2, 3]) == .complete)
    for size in [1, 2, 3, 4, 5, 100] {
      let split = Self.records(Array(hello[5...]), size: size)
      #expect(Self.state(of: split) == .complete)
      #expect(Self.state(of: split.dropLast()) == .incomplete)
    }
  }

  @Test func `a hello may have the size of the largest record`() {
    let largest = Self.records(Self.message(16_384 - 4), size: 16_384)
    #expect(largest.count == ClientHelloBuffer.limit)
    #expect(Self.state(of: largest) == .complete)
    #expect(Self.state(of: largest.dropLast()) == .incomplete)
    // Longer ones are refused as soon as their length is known.
    let longer = Self.records(Self.message(16_384 - 3), size: 16_384)
    #expect(Self.state(of: Array(longer[..<8])) == .incomplete)
    #expect(Self.state(of: Array(longer[..<9])) == .refused)
    // The heads of many records count too.
    let many = Self.records(Self.message(10_000), size: 1)
    #expect(Self.state(of: Array(many[..<(ClientHelloBuffer.limit - 1)])) == .incomplete)
    #expect(Self.state(of: Array(many[..<ClientHelloBuffer.limit])) == .refused)
  }

  @Test(
    arguments: [
      Array("GET / HTTP/1.1\r\n".utf8), [23, 3, 3, 0, 2], [21, 3, 3, 0, 2], [20, 3, 3, 0, 1],
      [22, 2, 0, 0, 9],
      [22, 3, 1, 0, 0], [22, 3, 1, 0x40, 0x01], [22, 3, 1, 0, 1, 2], [22, 3, 1, 0, 1, 1, 23, 3, 1, 0, 1],
      [0x80, 0x2E, 1, 3, 1],
    ] as [[UInt8]])
  func `other beginnings are refused, as soon as a record's head is there`(bytes: [UInt8]) {
    #expect(Self.state(of: Array(bytes.prefix(4))) == .incomplete)
    #expect(Self.state(of: bytes) == .refused)
  }

  @Test(arguments: [2, 3]) func `a hello is answered wherever it is split`(version: Int) throws {
    let hello = try Self.hello(version: version)
    for count in 1..<hello.count {
      let pair = try Pair()
      #expect(pair.session.shakeHands() == .awaits(.read))
      for part in [hello[..<count], hello[count...]] {
        try pair.client.send(Array(part))
        #expect(pair.shakeHands() == .awaits(.read))
      }
      // The record and the message ServerHello.
      let answer = try pair.client.receive()
      #expect(answer.prefix(2) == [22, 3] && answer.dropFirst(5).first == 2, "split at \(count)")
    }
  }

  @Test func `a hello in records of one byte is answered`() throws {
    let pair = try Pair()
    try pair.client.send(Self.records(Array(try Self.hello(version: 3)[5...]), size: 1))
    #expect(pair.shakeHands() == .awaits(.read))
    #expect(try pair.client.receive().prefix(2) == [22, 3])
  }

  @Test(
    arguments: [
      ([23, 3, 3, 0, 2], "no ClientHello"), ([21, 3, 3, 0, 2], "no ClientHello"),
      ([22, 3, 1, 0x40, 0] + [1, 0, 0x3F, 0xFD], "no ClientHello"),
      ([0x80, 0x2E, 1, 3, 3], "no ClientHello"),
    ] as [([UInt8], String)])
  func `what is no hello gets no state that waits for more`(bytes: [UInt8], reason: String) throws {
    let pair = try Pair()
    try pair.client.send(bytes)
    guard case .failed(let text) = pair.shakeHands() else {
      Issue.record("the handshake goes on")
      return
    }
    #expect(text.hasPrefix(reason))
  }

  @Test func `a client that leaves before its hello is complete ends the handshake`() throws {
    let pair = try Pair()
    try pair.client.send([22, 3, 1])
    pair.client.endSending()
    #expect(pair.shakeHands() == .awaits(.read))
    #expect(pair.shakeHands() == .failed(reason: "the client disconnected"))
  }

  #if os(Linux)
    @Test(.enabled(if: !Sanitizer.isActive))
    func `half a hello holds less than 4 KB, and its memory is given back`() async throws {
      try await RawHTTPClient.$usesTLS.withValue(true) {
        let server = try await EchoServerProcess([
          "--connections-per-address", "2000", "--event-loops", "1", "--patience", "600",
        ])
        try await RawHTTPClient.run {
          func ask() throws {
            let client = try RawHTTPClient(port: server.port)
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.receiveResponse().status == 200)
          }
          for _ in 0..<20 { try ask() }
          let hello = try Self.hello(version: 3)
          let memory = try server.memory
          func open(_ beginnings: [[UInt8]]) throws -> [RawHTTPClient] {
            let clients = try (0..<400).map { index in
              let client = try RawHTTPClient(port: server.port, tls: nil)
              try client.send(beginnings[index % beginnings.count])
              return client
            }
            // A later handshake shows that the earlier bytes were received.
            try ask()
            #expect(try server.descriptors >= clients.count)
            return clients
          }
          for _ in 0..<2 {
            let half = try open([[22, 3, 1], Array(hello.dropLast())])
            #expect(try server.memory - memory < 400 * 4096)
            for client in half { client.reset() }
          }
          let whole = try open([hello])
          for client in whole { #expect(try client.receive().first == 22) }
          let most = try server.memory
          for client in whole { client.reset() }
          // These have cost more, which is given back when they have ended.
          var rounds = 0
          while try server.memory - memory > (most - memory) / 2, rounds < 1000 {
            try ask()
            rounds += 1
          }
          #expect(rounds < 1000)
        }
        await server.stop()
      }
    }
  #endif
}
