public import Foundation

/// A proxy on the loopback address that answers some requests itself, or changes them, as a test specifies.
///
/// It reads each request completely before it forwards it, and closes each connection after one response.
public final class Middlebox: Sendable {
  /// What happens to a request.
  public enum Reaction: Sendable {
    /// It is forwarded.
    case forward
    /// It is forwarded with this target.
    case rewrite(String)
    /// It is answered with this status, fields such as `Server: squid`, and body.
    case answer(String, [String] = [], body: String = "")
    /// It is answered with a page of HTML, as by a proxy.
    public static func page(_ status: Int, title: String = "Blocked") -> Self {
      .answer(
        "\(status) \(title)", ["Content-Type: text/html", "Server: squid/5.7"],
        body: "<!doctype html><title>\(title)</title>")
    }
  }

  private let server: ScriptedServer

  /// Starts to listen, and forwards to a port of the loopback address.
  public init(to port: UInt16, _ react: @escaping @Sendable (ScriptedRequest) -> Reaction) throws {
    server = try ScriptedServer { connection in
      let (request, body) = try connection.readRequest()
      switch react(request) {
      case .forward: try Self.forward(request, as: request.target, body, to: port, for: connection)
      case .rewrite(let target): try Self.forward(request, as: target, body, to: port, for: connection)
      case .answer(let status, let fields, let body):
        try connection.respond(status, fields, body: request.method == "HEAD" ? "".utf8 : body.utf8)
      }
      try connection.linger()
    }
  }

  /// `http://127.0.0.1:port`.
  public var url: URL { server.url }
  /// The heads of all requests in the order of arrival.
  public var requests: [ScriptedRequest] { server.requests }

  private static func forward(
    _ request: ScriptedRequest, as target: String, _ body: Data, to port: UInt16,
    for client: ScriptedConnection
  ) throws {
    let fields = request.fields.filter { !["connection", "expect"].contains($0.name) }
      .map { "\($0.name): \($0.value)" }
    let lines = ["\(request.method) \(target) HTTP/1.1"] + fields + ["Connection: close", "", ""]
    let server = try RawHTTPClient(port: port)
    try server.send(Array(lines.joined(separator: "\r\n").utf8) + body)
    try client.write(try server.receiveAll())
  }
}
