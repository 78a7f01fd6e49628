import Foundation
import HTTPClient
import HTTPTypes
import SystemIO

/// Makes one try to send an event.
struct WebhookSender: Sendable {
  /// The answer to a try.
  enum Answer: Sendable, Hashable {
    case accepted(status: Int)
    /// The receiver wants no more events.
    case gone
    /// The reason, without contents of the response; and the pause in seconds that the receiver requested.
    case failed(String, retryAfter: Int64? = nil)

    var isAccepted: Bool { if case .accepted = self { true } else { false } }
  }

  let transport: any AddressedTransport
  /// Returns all addresses of a host, or throws the reason why there are none.
  let resolve: @Sendable (String) async throws -> [IPAddress]
  let rule: DestinationRule
  let secrets: WebhookSecrets

  /// Sends `delivery` to `endpoint`.
  /// - Parameter now: the time of the try, which is signed.
  func send(_ delivery: WebhookDelivery, to endpoint: WebhookEndpoint, at now: Date) async -> Answer {
    let start = ContinuousClock.now
    let addresses: [IPAddress]
    do {
      addresses = try await self.addresses(of: endpoint)
    } catch {
      return .failed("\(error)")
    }
    let request = request(for: delivery, endpoint, at: now)
    var answer = Answer.failed("no address")
    for address in addresses.prefix(WebhookLimits.addressesPerTry) {
      let left = WebhookLimits.trySeconds - start.duration(to: .now) / .seconds(1)
      guard left > 0 else { return .failed("no response in \(Int(WebhookLimits.trySeconds)) s") }
      var timeouts = TransportTimeouts()
      (timeouts.connect, timeouts.idle, timeouts.total) = (left, left, left)
      let head = Lock<HTTPResponse?>(nil)
      do {
        let response = try await transport.send(
          request, body: .bytes(delivery.body), to: SocketAddress(address, port: endpoint.port),
          destination: .memory(limit: WebhookLimits.responseBytes), timeouts: timeouts,
          events: { if case .response(let response) = $0 { head.set(response) } })
        return Self.answer(response.head, at: now)
      } catch {
        // The status says everything; the rest of the response does not matter.
        if let head = head.value { return Self.answer(head, at: now) }
        answer = .failed(Self.reason(error))
        guard case .connectionFailed = error else { return answer }
      }
    }
    return answer
  }

  private struct Refusal: Error, CustomStringConvertible {
    let description: String
  }

  /// The addresses of the endpoint's host. Throws unless events may be sent to all of them: the system chooses among the
  /// addresses of a name in an order that its owner controls.
  private func addresses(of endpoint: WebhookEndpoint) async throws -> [IPAddress] {
    let addresses = try await resolve(endpoint.authority.name)
    for address in addresses {
      guard rule.allows(address) else {
        throw Refusal(
          description: "\(address) is not a public address, and no block of allowedNetworks contains it")
      }
      guard endpoint.isSecure || rule.isNamed(address) else {
        throw Refusal(description: "http is used only in allowedNetworks, and no block contains \(address)")
      }
    }
    return addresses
  }

  private func request(
    for delivery: WebhookDelivery, _ endpoint: WebhookEndpoint, at now: Date
  ) -> HTTPRequest {
    let timestamp = Int64(now.timeIntervalSince1970)
    var request = endpoint.request
    request.headerFields[.contentType] = "application/json"
    request.headerFields[.userAgent] = "Data-Snapshots"
    for (name, value) in [
      ("webhook-id", delivery.event), ("webhook-timestamp", "\(timestamp)"),
      (
        "webhook-signature", secrets.signatures(id: delivery.event, timestamp: timestamp, body: delivery.body)
      ),
    ] {
      if let name = HTTPField.Name(name) { request.headerFields[name] = value }
    }
    return request
  }

  private static func answer(_ head: HTTPResponse, at now: Date) -> Answer {
    switch head.status.code {
    case 200..<300: .accepted(status: head.status.code)
    case 410: .gone
    case 300..<400: .failed("status \(head.status.code); redirects are not followed")
    default:
      .failed(
        "status \(head.status.code)",
        retryAfter: head.headerFields[.retryAfter].flatMap { RetrySchedule.seconds(retryAfter: $0, at: now) })
    }
  }

  /// The reason in the words of the transport, which contain neither the path nor the response.
  private static func reason(_ error: TransportError) -> String {
    switch error {
    case .connectionFailed(let text), .untrusted(let text): text
    case .timedOut: "no response in \(Int(WebhookLimits.trySeconds)) s"
    case .interrupted: "the connection broke"
    default: "the response is not valid"
    }
  }
}
