#if os(Linux)
  import Foundation
  import SystemIO
  import TestSupport
  import Testing

  /// What clients do to a server that means them no harm.
  @Suite struct HostileClientsTests {
    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let getLarge = "GET /static/large HTTP/1.1\r\nHost: a\r\n\r\n"

    /// Waits until the server has no more descriptors than `count`; every question is a request, so it is no idle wait.
    private func expectDescriptors(_ count: Int, of server: EchoServerProcess) throws {
      let began = ContinuousClock.now
      while try server.descriptors > count, ContinuousClock.now - began < .seconds(60) {
        let client = try RawHTTPClient(port: server.port)
        try client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(try client.receiveResponse().status == 200)
        #expect(client.isClosedByPeer())
      }
      #expect(try server.descriptors <= count)
    }

    @Test func `hundreds of slow, silent and broken clients end by their limits, and others are served`()
      async throws
    {
      DescriptorLimit.raise(to: 4096)
      // The honest one is idle for as long as the others take to come.
      let server = try await EchoServerProcess([
        "--connections-per-address", "4096", "--patience", "\(2 * Sanitizer.slowness)",
      ])
      try await RawHTTPClient.run {
        let honest = try RawHTTPClient(port: server.port)
        try honest.send(Self.get)
        #expect(try honest.receiveResponse().status == 200)
        let descriptors = try server.descriptors

        func open(_ text: String, receiveBuffer: Int32? = nil) throws -> [RawHTTPClient] {
          try (0..<100).map { _ in
            let client = try RawHTTPClient(port: server.port, receiveBuffer: receiveBuffer)
            try client.send(text)
            return client
          }
        }
        let post = "POST / HTTP/1.1\r\nHost: a\r\n"
        let readers = try open(Self.getLarge, receiveBuffer: 4096)
        let bodies =
          try open(post + "Content-Length: 10\r\n\r\nabc")
          + open(post + "Transfer-Encoding: chunked\r\n\r\n5")
        let heads = try open("GET / HTTP/1.1\r\nHost:") + open("G")
        let silent = try open("")
        let halfClosed = try open(Self.get)
        let cutShort = try open(post + "Content-Length: 10\r\n\r\nabc") + open("GET / HT")
        for client in halfClosed + cutShort { client.endSending() }
        let resets =
          try open("") + open("GET / HT") + open(post + "Content-Length: 9\r\n\r\na") + open(Self.getLarge)
          + open(Self.get)
        for client in resets { client.reset() }

        for _ in 0..<100 {
          try honest.send(Self.get)
          #expect(try honest.receiveResponse().status == 200)
        }
        #expect(try server.memory < 256 << 20)

        for client in halfClosed {
          #expect(try client.receiveResponse().status == 200)
          #expect(try client.receiveAll().isEmpty)
        }
        for client in cutShort { #expect(try client.receiveAll().isEmpty) }
        for client in silent { #expect(try client.receiveAll().isEmpty) }
        for client in heads + bodies {
          #expect(try client.receiveResponse().status == 408)
          client.endSending()
          #expect(client.isClosedByPeer())
        }
        // The readers still have what the systems between took; the rest never comes.
        try expectDescriptors(descriptors, of: server)
        for client in readers {
          var count = 0
          do {
            while case let more = try client.receive(), !more.isEmpty { count += more.count }
          } catch {}
          #expect(count < 64 << 20)
        }
      }
      await server.stop()
    }

    @Test func `accepting pauses without descriptors, what runs goes on, and it recovers`() async throws {
      // One loop accepts in the order in which clients came.
      let server = try await EchoServerProcess(descriptors: 64, ["--event-loops", "1"])
      try await RawHTTPClient.run {
        let free = try server.descriptors
        let clients = try (0..<100).map { _ in try RawHTTPClient(port: server.port) }
        for client in clients { try client.send(Self.get) }
        #expect(try clients[0].receiveResponse().status == 200)
        var asked = 0
        func ask() throws {
          try clients[0].send("GET /static/small HTTP/1.1\r\nHost: a\r\n\r\n")
          let response = try clients[0].receiveResponse()
          #expect(response.status == 200)
          #expect(response.body.count == 1024)
          asked += 1
        }
        // Three quarters of 64 are for connections.
        while try server.descriptors < 48, asked < 100_000 { try ask() }
        for _ in 0..<100 { try ask() }
        // The one that showed the shortage is served too, and a file is open now and then.
        let held = try server.descriptors
        #expect(held <= 50, "\(held) descriptors")

        for client in clients.dropFirst() {
          #expect(try client.receiveResponse().status == 200)
          client.endSending()
          #expect(client.isClosedByPeer())
        }
        try ask()
        clients[0].endSending()
        #expect(clients[0].isClosedByPeer())
        try expectDescriptors(free, of: server)
      }
      await server.stop()
    }

    // MARK: Many requests

    /// One of each kind, twenty in all, some of which end their connection.
    private func mixture(port: UInt16) throws {
      let post = "POST / HTTP/1.1\r\nHost: a\r\n"
      let kept: [(String, Int)] = [
        (Self.get, 200), ("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", 200),
        ("GET /static/small HTTP/1.1\r\nHost: a\r\n\r\n", 200),
        ("GET /static/small HTTP/1.1\r\nHost: a\r\nRange: bytes=1-5\r\n\r\n", 206),
        ("GET /static/small HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1,4-5\r\n\r\n", 206),
        ("GET /static/small HTTP/1.1\r\nHost: a\r\nRange: bytes=4096-\r\n\r\n", 416),
        ("GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", 404), (post + "Content-Length: 5\r\n\r\nhello", 200),
        (post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 200),
        (post + "Content-Length: 70000\r\n\r\n" + String(repeating: "a", count: 70_000), 200),
        ("DELETE / HTTP/1.1\r\nHost: a\r\n\r\n", 405),
      ]
      let client = try RawHTTPClient(port: port)
      for (request, status) in kept {
        try client.send(request)
        #expect(try client.receiveResponse(toHEAD: request.hasPrefix("HEAD")).status == status)
      }
      for (request, status) in [
        ("nonsense\r\n\r\n", 400), ("GET /\(String(repeating: "a", count: 9000)) HTTP/1.1\r\n", 414),
        (post + "Content-Length: 99999999999\r\n\r\n", 413),
        (post + "Transfer-Encoding: chunked\r\n\r\nx\r\n", 400),
      ] {
        let client = try RawHTTPClient(port: port)
        try client.send(request)
        #expect(try client.receiveResponse().status == status)
      }
      for request in ["", "GET / HT", post + "Content-Length: 9\r\n\r\na", Self.getLarge, Self.get] {
        let client = try RawHTTPClient(port: port)
        try client.send(request)
        client.reset()
      }
    }

    @Test func `neither descriptors nor memory grow over thousands of mixed requests`() async throws {
      // As many as somebody has the time for.
      let requests = ProcessInfo.processInfo.environment["MIXED_REQUESTS"].flatMap { Int($0) } ?? 4000
      let server = try await EchoServerProcess()
      try await RawHTTPClient.run {
        let descriptors = try server.descriptors
        for _ in 0..<50 { try mixture(port: server.port) }
        let memory = try server.memory
        for _ in 0..<requests / 20 { try mixture(port: server.port) }
        // A sanitizer keeps what was freed, to see whether it is used again.
        if !Sanitizer.isActive { #expect(try server.memory - memory < 8 << 20) }
        try expectDescriptors(descriptors, of: server)
      }
      await server.stop()
    }
  }
#endif
