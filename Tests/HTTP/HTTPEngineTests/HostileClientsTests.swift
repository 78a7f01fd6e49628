#if os(Linux)
  import Foundation
  import SystemIO
  import TestSupport
  import Testing

  /// The behaviour of a server with hostile clients.
  @Suite struct HostileClientsTests {
    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let getLarge = "GET /static/large HTTP/1.1\r\nHost: a\r\n\r\n"

    /// Waits until the server has at most `count` descriptors. Each check is a request, so the server is not idle.
    private func expectDescriptors(_ count: Int, of server: EchoServerProcess) throws {
      let began = ContinuousClock.now
      while try server.descriptors > count, ContinuousClock.now - began < .seconds(60) {
        let client = try RawHTTPClient(port: server.port)
        try client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(try client.receiveResponse().status == 200)
        #expect(client.isClosedByPeer())
      }
      let (files, sockets) = (try server.openFiles, try server.sockets)
      #expect(files.count <= count, "\(files)\n\(sockets)")
    }

    @Test(.alsoOverTLS)
    func `limits disconnect hundreds of slow, silent and broken clients, and others are served`()
      async throws
    {
      DescriptorLimit.raise(to: 4096)
      let server = try await EchoServerProcess([
        "--connections-per-address", "4096",
        // A client waits for a minute.
        "--patience", "\((RawHTTPClient.usesTLS ? 5 : 2) + (Sanitizer.isActive ? 20 : 0))",
      ])
      try await RawHTTPClient.run {
        let honest = try RawHTTPClient(port: server.port)
        try honest.send(Self.get)
        #expect(try honest.receiveResponse().status == 200)
        let descriptors = try server.descriptors

        func ask() throws {
          try honest.send(Self.get)
          #expect(try honest.receiveResponse().status == 200)
        }
        // On a busy machine, a hundred connections can take longer than the server's patience.
        func open(
          _ text: String, receiveBuffer: Int32? = nil, ends: Bool = false
        ) throws -> [RawHTTPClient] {
          try (0..<100).map { number in
            let client = try RawHTTPClient(port: server.port, receiveBuffer: receiveBuffer)
            try client.send(text)
            if ends { client.endSending() }
            if number % 10 == 0 { try ask() }
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
        let halfClosed = try open(Self.get, ends: true)
        let cutShort =
          try open(post + "Content-Length: 10\r\n\r\nabc", ends: true) + open("GET / HT", ends: true)
        let resets =
          try open("") + open("GET / HT") + open(post + "Content-Length: 9\r\n\r\na") + open(Self.getLarge)
          + open(Self.get)
        for client in resets { client.reset() }

        for _ in 0..<100 { try ask() }
        // Sanitizers keep freed memory to detect its use.
        if !Sanitizer.isActive { #expect(try server.memory < 256 << 20) }

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
        // The readers still receive the bytes in the systems' buffers, but not the rest.
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

    @Test func `accepting pauses without descriptors, and the server recovers`() async throws {
      // A single loop accepts clients in the order in which they connect.
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
        // Three quarters of the 64 descriptors are for connections.
        while try server.descriptors < 48, asked < 100_000 { try ask() }
        for _ in 0..<100 { try ask() }
        // The connection that exceeded the limit is served, too, and a file is open at times.
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

    /// Sends one request of each kind, twenty in total. Some of them close their connection.
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

    @Test(.alsoOverTLS) func `neither descriptors nor memory grow over thousands of mixed requests`()
      async throws
    {
      // The number of requests can be increased for long runs.
      let requests = ProcessInfo.processInfo.environment["MIXED_REQUESTS"].flatMap { Int($0) } ?? 4000
      let server = try await EchoServerProcess()
      try await RawHTTPClient.run {
        let descriptors = try server.descriptors
        for _ in 0..<50 { try mixture(port: server.port) }
        let memory = try server.memory
        for _ in 0..<requests / 20 { try mixture(port: server.port) }
        // Sanitizers keep freed memory to detect its use.
        if !Sanitizer.isActive { #expect(try server.memory - memory < 8 << 20) }
        try expectDescriptors(descriptors, of: server)
      }
      await server.stop()
    }
  }
#endif
