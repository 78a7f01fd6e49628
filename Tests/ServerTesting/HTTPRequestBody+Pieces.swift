package import HTTPEngine
package import HTTPTypes
import SystemIO

extension HTTPRequestBody {
  /// `bytes` in pieces of `size`, and then what `end` does.
  package static func pieces(
    of bytes: [UInt8], size: Int = 1000, isChunked: Bool = false,
    end: @escaping @Sendable () async throws -> Void = {}
  ) -> HTTPRequestBody {
    let offset = Offset()
    return HTTPRequestBody(declaredLength: isChunked ? nil : Int64(bytes.count)) {
      let start = offset.advance(by: size)
      guard start < bytes.count else {
        try await end()
        return nil
      }
      return IOBuffer(bytes[start..<Swift.min(start + size, bytes.count)])
    }
  }

  /// A body that sends `bytes` and then breaks off.
  package static func breaking(_ bytes: some Collection<UInt8>, declaredLength: Int64?) -> HTTPRequestBody {
    let whole = HTTPRequestBody.pieces(of: Array(bytes), size: 100) { throw HTTPBodyError.disconnected }
    return HTTPRequestBody(declaredLength: declaredLength) {
      var iterator = whole.makeAsyncIterator()
      return try await iterator.next()
    }
  }

  /// A body of `bytes` in chunks, followed by `trailers`.
  package static func chunked(_ bytes: [UInt8], trailers: HTTPFields) -> HTTPRequestBody {
    let whole = HTTPRequestBody.pieces(of: bytes)
    return HTTPRequestBody(declaredLength: nil, trailers: { trailers }) {
      var iterator = whole.makeAsyncIterator()
      return try await iterator.next()
    }
  }
}

/// Where a body goes on.
private final class Offset: Sendable {
  private let next = Lock(0)

  func advance(by count: Int) -> Int { next.add(count) - count }
}
