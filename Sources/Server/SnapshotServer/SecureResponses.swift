import AccessControl
import HTTPEngine
import HTTPTypes

/// Adds `Strict-Transport-Security` (RFC 6797) to the responses of a handler that are sent through TLS.
struct SecureResponses: HTTPHandler {
  let handler: any HTTPHandler
  /// How many seconds browsers use only HTTPS.
  let seconds: Int64

  func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    var response = try await handler.respond(to: request)
    // On loopback the field would concern all programs of the machine.
    if request.isSecure, !PageOrigin.isLoopback(request.authority.lowercased()) {
      response.headerFields[.strictTransportSecurity] = "max-age=\(seconds)"
    }
    return response
  }
}
