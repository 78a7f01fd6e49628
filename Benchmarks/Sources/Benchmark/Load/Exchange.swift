/// A request, and the expected response.
struct Exchange {
  var head: [UInt8]
  /// The body of the request.
  var body: Payload?
  var status = 200
  /// The expected body of the response; `nil` accepts any bytes.
  var answer: Payload?

  static func get(_ path: String, fields: String = "", expecting answer: Payload?) -> Exchange {
    Exchange(
      head: Array(
        "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: benchmark\r\n\(fields)\r\n".utf8),
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

/// The work of a group of connections. Each connection performs one exchange after the other.
struct Work {
  var connections: Int
  /// Creates the exchange with the given number, which is unique.
  var exchange: (Int) -> Exchange

  init(_ connections: Int, _ exchange: @escaping (Int) -> Exchange) {
    self.connections = connections
    self.exchange = exchange
  }

  init(_ connections: Int, _ exchange: Exchange) {
    self.init(connections) { _ in exchange }
  }
}
