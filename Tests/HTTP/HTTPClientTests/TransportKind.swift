import Foundation
import HTTPClient
import HTTPTypes
import SystemIO
import TestSupport
import Testing

/// All transports. Each test of the contract runs with each of them.
enum TransportKind: CaseIterable, CustomTestStringConvertible {
  #if os(Linux)
    case curl
  #endif
  case urlSession

  func make() -> any Transport {
    switch self {
    #if os(Linux)
      case .curl: CurlTransport()
    #endif
    case .urlSession: URLSessionTransport()
    }
  }

  /// On Linux, a trailer makes `URLSession` crash the process.
  static var survivingTrailers: [Self] {
    #if os(Linux)
      [.curl]
    #else
      allCases
    #endif
  }

  var testDescription: String { "\(self)" }
}

extension Transport {
  /// Sends a request to `server`, with defaults for all other arguments.
  func send(
    _ method: HTTPRequest.Method = .get, _ path: String = "/", to server: ScriptedServer,
    fields: HTTPFields = [:], body: TransportBody = .none,
    destination: TransportDestination = .memory(limit: 1 << 20), timeouts: TransportTimeouts = .init(),
    events: (@Sendable (TransportEvent) -> Void)? = nil
  ) async throws(TransportError) -> TransportResponse {
    try await send(
      HTTPRequest(
        method: method, scheme: "http", authority: server.authority, path: path, headerFields: fields),
      body: body, destination: destination, timeouts: timeouts, events: events)
  }
}

/// Collects the events of a transfer.
final class EventLog: Sendable {
  private let state = Lock([TransportEvent]())

  func record(_ event: TransportEvent) { state.withLock { $0.append(event) } }

  var progress: [TransportProgress] {
    state.withLock { events in
      events.compactMap { if case .progress(let state) = $0 { state } else { nil } }
    }
  }

  var informational: [HTTPResponse] {
    state.withLock { events in
      events.compactMap { if case .informational(let head) = $0 { head } else { nil } }
    }
  }

  var responses: [HTTPResponse] {
    state.withLock { events in
      events.compactMap { if case .response(let head) = $0 { head } else { nil } }
    }
  }
}

/// Returns the result of `work` as a value.
func outcome<Success, Failure>(
  of work: () async throws(Failure) -> Success
) async -> Result<Success, Failure> {
  do { return .success(try await work()) } catch { return .failure(error) }
}

extension Result {
  /// The error, if this is a failure.
  var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
