/// One request, and the answer that it must get.
struct Exchange {
  var head: [UInt8]
  /// What is sent behind the head.
  var body: Payload?
  var status = 200
  /// What the answer must hold, byte for byte; any bytes where it is `nil`.
  var answer: Payload?

  static func get(_ path: String, expecting answer: Payload?) -> Exchange {
    Exchange(
      head: Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: benchmark\r\n\r\n".utf8),
      answer: answer)
  }

  static func put(_ path: String, _ body: Payload, fields: String = "", method: String = "PUT") -> Exchange {
    Exchange(
      head: Array(
        """
        \(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: benchmark\r\n\
        Content-Type: application/zip\r\n\(fields)Content-Length: \(body.count)\r\n\r\n
        """.utf8),
      body: body, status: 201)
  }
}

/// What a group of connections does, each one exchange after the other.
struct Work {
  var connections: Int
  /// The exchange by its number, which no other has.
  var exchange: (Int) -> Exchange

  init(_ connections: Int, _ exchange: @escaping (Int) -> Exchange) {
    self.connections = connections
    self.exchange = exchange
  }

  init(_ connections: Int, _ exchange: Exchange) {
    self.init(connections) { _ in exchange }
  }
}
