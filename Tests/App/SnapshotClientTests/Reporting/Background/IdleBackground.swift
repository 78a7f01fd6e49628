import Foundation
import HTTPClient
import HTTPTypes

/// Sends nothing.
struct IdleBackground: BackgroundTransport {
  func names() async -> Set<String> { [] }
  func isUnderWay(_ name: String) -> Bool { false }
  func start(_ request: HTTPRequest, sending file: URL, as name: String) throws(TransportError) {
    throw .invalidRequest("nothing is sent")
  }
  func outcome(
    of name: String, progress: (@Sendable (Int64) -> Void)?
  ) async -> Result<TransportResponse, TransportError>? { nil }
  func cancel(_ name: String) {}
  func eventsEnd() async {}
}
