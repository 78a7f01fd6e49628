import HTTPEngine
import HTTPTypes
import SystemIO

/// Answers with the body that came.
enum Echo {
  /// How much of a body is read before the answer begins: one that is short and broken gets the status that it
  /// deserves, and one that is long takes no more memory than this.
  private static let heldBack = 64 * 1024

  static func response(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    let body = request.body
    var pieces = body.makeAsyncIterator()
    var first: [UInt8] = []
    while first.count < heldBack {
      guard let piece = try await pieces.next() else { return response(request, .bytes(first)) }
      first += piece.bytes
    }
    let held = Held(first)
    return response(
      request,
      .stream {
        if let first = held.take() { return first }
        var pieces = body.makeAsyncIterator()
        return try await pieces.next()?.bytes
      })
  }

  private static func response(
    _ request: HTTPServerRequest, _ body: HTTPServerResponse.Body
  ) -> HTTPServerResponse {
    let type = request.headerFields[.contentType] ?? "application/octet-stream"
    return HTTPServerResponse(status: .ok, headerFields: [.contentType: type], body: body)
  }

  /// Bytes that are taken once.
  private final class Held: Sendable {
    private let bytes: Lock<[UInt8]?>

    init(_ bytes: [UInt8]) { self.bytes = Lock(bytes) }

    func take() -> [UInt8]? {
      bytes.withLock { bytes in
        defer { bytes = nil }
        return bytes
      }
    }
  }
}
