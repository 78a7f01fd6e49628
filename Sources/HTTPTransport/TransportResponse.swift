public import Foundation
public import HTTPTypes

/// What came back.
public struct TransportResponse: Sendable {
  /// Status and fields.
  public var head: HTTPResponse
  /// The body, as far as it went into memory.
  public var body: Data

  /// A response by its parts.
  public init(head: HTTPResponse, body: Data) {
    self.head = head
    self.body = body
  }
}
