package import HTTPEngine
package import Observability
package import SnapshotStore

/// A protocol with which the calls that attach a snapshot accept a bundle in several requests.
package protocol AttachDialect: Sendable {
  /// The parameters of the protocol, in addition to those of the calls.
  var parameters: [Endpoint.Parameter] { get }
  /// The problems that only the protocol has.
  var problems: [ProblemKind] { get }
  /// The names of header fields that any response can have.
  var fields: [String] { get }

  /// Receives the bundle of `call`, to be published as `attachment`.
  /// - Returns: `nil` if `call` does not use the protocol, or the protocol can't accept the bundle now. The body was
  ///   not read then, and the bundle is received in the usual way.
  func attach(_ attachment: Attachment, _ call: APIRequest) async throws -> HTTPServerResponse?
}
